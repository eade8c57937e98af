import { describe, expect, test } from '@jest/globals'
import { disputeCategory } from '../../billing/dispute-categories.ts'
import { DISPUTE_REASONS, disputeReason } from '../../billing/dispute-reasons.ts'

describe('the networks’ reason codes', () => {
  const rows = Object.values(DISPUTE_REASONS).flatMap((codes) => Object.entries(codes))

  test('are of four networks, and no two use the same code', () => {
    expect(Object.keys(DISPUTE_REASONS)).toHaveLength(4)
    const codes = rows.map(([code]) => code)
    expect(new Set(codes).size).toBe(codes.length)
    expect(codes.length).toBeGreaterThan(100)
  })

  test('have texts that fit the member', () => {
    for (const [code, text] of rows) {
      expect(text.length).toBeLessThanOrEqual(512)
      expect(disputeReason(code)).toBe(text)
    }
  })

  test('agree with the category: a code whose text says fraud is never a processing error', () => {
    const frauds = rows.filter(([, text]) => /fraud/i.test(text))
    expect(frauds.length).toBeGreaterThan(10)
    for (const [code] of frauds) expect([code, disputeCategory('fraud', code)]).toEqual([code, 'fraud'])
  })
})
