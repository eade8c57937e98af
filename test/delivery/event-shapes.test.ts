/** The check that every test's events go through when its service stops. */
import { describe, expect, test } from '@jest/globals'
import { eventProblem } from '../support/event-shapes.ts'

const time = new Date('2026-01-31T00:00:00.000Z')

function row(type: string, payload: object) {
  const whole = { eventType: type, eventId: 'evt_1', eventTime: time.toISOString(), _links: [], ...payload }
  return { id: 'evt_1', type, entity_id: 'cus_1', payload: JSON.stringify(whole), event_time: time }
}

describe('an event', () => {
  const good = { customerId: 'cus_1', _embedded: { customer: { id: 'cus_1', revision: 1 } } }

  test('holds the ids and the records of its type', () => {
    expect(eventProblem(row('customer-created', good))).toBeNull()
  })

  test.each([
    ['without its id', { ...good, customerId: undefined }, 'customer-created lacks customerId'],
    ['of another id', { ...good, customerId: 'cus_2' }, 'customer-created is filed under cus_1'],
    ['without its record', { ...good, _embedded: {} }, 'customer-created does not embed its customer'],
    [
      'with a record cut short',
      { ...good, _embedded: { customer: { id: 'cus_1' } } },
      'customer-created embeds no whole customer',
    ],
    ['without links', { ...good, _links: undefined }, 'customer-created has no links'],
    ['under another name', { ...good, eventType: 'x' }, 'customer-created evt_1 does not say what it is'],
  ])('%s is found out when the test that made it ends', (_, payload, problem) => {
    expect(eventProblem(row('customer-created', payload))).toBe(problem)
  })

  test('of a type nobody described is found out', () => {
    expect(eventProblem(row('kyc-request-failed', good))).toBe(
      'kyc-request-failed has a type without a shape',
    )
  })
})
