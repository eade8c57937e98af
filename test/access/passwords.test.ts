import { scryptSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { createPasswordHasher } from '../../access/password-hash.ts'
import { passwordProblem, patternProblem } from '../../access/password-pattern.ts'
import { blockedUntil, failureSubject } from '../../access/sign-in-limit.ts'
import { usernameDigest } from '../../access/usernames.ts'

describe('a hash of a password', () => {
  const hasher = createPasswordHasher()

  test('is that of this password alone, carries its parameters and is never the same twice', async () => {
    const [one, other] = await Promise.all([hasher.hash('correct horse'), hasher.hash('correct horse')])
    expect(one).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w-]{22}\$[\w-]{43}$/)
    expect(other).not.toBe(one)
    expect(await hasher.verify('correct horse', one)).toBe(true)
    expect(await hasher.verify('correct horse ', one)).toBe(false)
    expect(await hasher.verify('', one)).toBe(false)
  })

  test('of other parameters is verified with those', async () => {
    const salt = Buffer.from('salt')
    const key = scryptSync('x', salt, 32, { N: 2, r: 1, p: 1 })
    const hash = (bytes: Buffer) =>
      `$scrypt$ln=1,r=1,p=1$${salt.toString('base64url')}$${bytes.toString('base64url')}`
    expect(await hasher.verify('x', hash(key))).toBe(true)
    expect(await hasher.verify('x', hash(Buffer.alloc(32)))).toBe(false)
  })

  test('is the same for a composed and a decomposed letter', async () => {
    expect(await hasher.verify('cafe\u0301', await hasher.hash('caf\u00e9'))).toBe(true)
  })

  test('that does not exist takes its time, and is never right', async () => {
    const known = await hasher.hash('x')
    const timeOf = async (hash: string | null) => {
      const started = performance.now()
      expect(await hasher.verify('y', hash)).toBe(false)
      return performance.now() - started
    }
    const [real, none] = [await timeOf(known), await timeOf(null)]
    expect(none).toBeGreaterThan(real / 5)
    expect(none).toBeLessThan(real * 5)
  })
})

describe('a pattern', () => {
  test.each([
    ['^(?=.*[A-Z])(?=.*\\d).{8,}$', 'Abcdefg1', true],
    ['^(?=.*[A-Z])(?=.*\\d).{8,}$', 'abcdefg1', false],
    ['\\p{Lu}', 'É', true],
    ['\\p{Lu}', 'é', false],
    ['^[\\w\\-@]+$', 'a-b@c', true],
    ['^.{3}$', '👍👍👍', true],
    ['secret', 'my secret word', true],
  ])('%s of %s: %s', (pattern, password, accepted) => {
    expect(patternProblem(pattern)).toBeNull()
    expect(passwordProblem(pattern, password) === null).toBe(accepted)
  })

  test.each(['(', '[z-a]', 'a**'])('%s is none', (pattern) => {
    expect(patternProblem(pattern)).toBe('must be a regular expression')
  })

  test.each([
    ['^(a+)+$', `${'a'.repeat(254)}!`],
    ['(.*)*(.*)*(.*)*x', 'a'.repeat(255)],
    ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(255)],
  ])('%s, which would take an age, ends in a moment', (pattern, password) => {
    expect(patternProblem(pattern)).toBeNull()
    const started = performance.now()
    expect(passwordProblem(pattern, password)).toContain('in time')
    expect(performance.now() - started).toBeLessThan(1_000)
  })
})

test.each([
  ['Ada', 'aDA', true],
  ['ada@Example.com', 'ADA@example.COM', true],
  ['É', 'e\u0301', true],
  ['ada', 'ada ', false],
  ['ada', 'bob', false],
])('the username %s is %s: %s', (one, other, same) => {
  expect(usernameDigest(one) === usernameDigest(other)).toBe(same)
})

test.each([
  ['ada', '203.0.113.7', 'ADA', '::ffff:203.0.113.7', true],
  ['ada', '203.0.113.7', 'ada', '203.0.113.8', false],
  ['ada', '203.0.113.7', 'bob', '203.0.113.7', false],
  ['ada', '2001:db8:1:2::1', 'ada', '2001:db8:1:2:ffff::9', true],
  ['ada', '2001:db8:1:2::1', 'ada', '2001:db8:1:3::1', false],
])('failures of %s from %s count for %s from %s: %s', (username, address, other, from, same) => {
  expect(failureSubject(username, address) === failureSubject(other, from)).toBe(same)
})

test('five failures block until the oldest of them is fifteen minutes old', () => {
  const failures = [50, 40, 30, 20, 10].map((second) => new Date(second * 1_000))
  expect(blockedUntil(failures)).toEqual(new Date(910_000))
  expect(blockedUntil(failures.slice(0, 4))).toBeNull()
  expect(blockedUntil([])).toBeNull()
})
