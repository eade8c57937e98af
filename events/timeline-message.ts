import type { EventType } from '../billing/event-types.ts'

/** What a timeline says of something that happened, with the id of the invoice or pause it is about. */
export function timelineMessage(type: EventType, about: string | null): string {
  const [subject = '', ...rest] = type.split('-')
  const said = rest.join(' ')
  switch (subject) {
    case 'subscription':
    case 'order':
      return about === null ? `The order: ${said}.` : `The order: ${said} (${about}).`
    case 'renewal':
      return `The renewal invoice ${about}: ${said.replace('invoice ', '')}.`
    case 'invoice':
      return `Invoice ${about}: ${said}.`
    default:
      return type
  }
}
