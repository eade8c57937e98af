import type { EventType } from '../billing/event-types.ts'

/** Returns the timeline's message for a domain event, with the id of its invoice or pause. */
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
