/** A movement of money as it is asked for, and asked for again: outcomes only, nothing thrown. */
import type { Charge, Gateway, GatewayAnswer, Refund } from './port.ts'

export type Movement =
  | { readonly kind: 'charge'; readonly charge: Charge }
  | { readonly kind: 'refund'; readonly refund: Refund }

/** What came out of a call that threw: nobody knows. */
const NO_ANSWER: GatewayAnswer = { result: 'unknown', raw: '{"result":"unknown","reason":"no-answer"}' }

/** Has the money moved. Repeating it moves nothing a second time: the request id is the same. */
export async function move(gateway: Gateway, movement: Movement): Promise<GatewayAnswer> {
  try {
    return movement.kind === 'charge'
      ? await gateway.charge(movement.charge)
      : await gateway.refund(movement.refund)
  } catch {
    return NO_ANSWER
  }
}

/** Asks what became of a movement, and for it again under its id where the gateway does not know either. */
export async function inquire(gateway: Gateway, movement: Movement): Promise<GatewayAnswer> {
  const { organizationId, requestId } = movement.kind === 'charge' ? movement.charge : movement.refund
  try {
    const found = await gateway.find(organizationId, requestId)
    if (found !== null && found.result !== 'unknown') return found
  } catch {
    return NO_ANSWER
  }
  return await move(gateway, movement)
}
