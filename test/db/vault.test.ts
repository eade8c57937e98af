import { randomBytes } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { decodeProtectedHeader } from 'jose'
import { createVault, VaultError } from '../../db/vault.ts'

const key = (): string => randomBytes(32).toString('base64')

describe('the vault', () => {
  test('opens what it sealed, and never seals the same way twice', async () => {
    const vault = createVault([key()])
    const [one, two] = [await vault.seal('ünïcode ✓'), await vault.seal('ünïcode ✓')]
    expect(one).not.toBe(two)
    expect(await vault.open(one)).toBe('ünïcode ✓')
  })

  test('names the key in the header, seals with the first and opens with any of the ring', async () => {
    const [old, fresh] = [key(), key()]
    const before = await createVault([old]).seal('secret')
    const rotated = createVault([fresh, old])
    expect(await rotated.open(before)).toBe('secret')
    const after = await rotated.seal('secret')
    expect(decodeProtectedHeader(after).kid).not.toBe(decodeProtectedHeader(before).kid)
    await expect(createVault([old]).open(after)).rejects.toThrow(VaultError)
  })

  test('refuses a record that was changed', async () => {
    const vault = createVault([key()])
    const sealed = await vault.seal('secret')
    const parts = sealed.split('.')
    parts[3] = `${parts[3]?.startsWith('A') ? 'B' : 'A'}${parts[3]?.slice(1)}`
    await expect(vault.open(parts.join('.'))).rejects.toThrow(VaultError)
  })

  test.each([[[]], [['short']]])('refuses the ring %j', (ring) => {
    expect(() => createVault(ring)).toThrow(VaultError)
  })
})
