export function returnPage(baseUrl: string): string {
  return `${baseUrl}/returned`
}
