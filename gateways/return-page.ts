/** Returns where customers come back to who have approved a charge, unless the merchant has said where. */
export function returnPage(baseUrl: string): string {
  return `${baseUrl}/returned`
}
