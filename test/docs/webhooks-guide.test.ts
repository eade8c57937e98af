/** The verifiers of docs/webhooks.md, run against genuine and forged signatures. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { signWebhook } from '../../delivery/signature.ts'

const BASE_URL = 'https://api.example.com'
const ORGANIZATION = 'org_1'
const BODY = '{"eventType":"customer-created","name":"Zoë"}'
const NOW = 1_800_000_000

interface Case {
  readonly name: string
  readonly signature: string
  readonly body: string
  readonly now: number
  readonly good: boolean
}

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
const snippet = (language: string) =>
  new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? `no ${language} in docs/webhooks.md`

/** A language that is not installed is skipped, and the report shows it. */
function has(command: string, ...words: string[]): boolean {
  try {
    execFileSync(command, words, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe('the guide for receivers', () => {
  let folder: string
  let cases: Case[]

  beforeAll(async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
    const stranger = await generateKeyPair('RS256')
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'known', alg: 'RS256', use: 'sig' }]
    const key = { kid: 'known', privateKey }
    const at = new Date(NOW * 1000)
    const subject = { baseUrl: BASE_URL, organizationId: ORGANIZATION, body: BODY }
    const good = await signWebhook(subject, key, at)
    const claims = JSON.parse(Buffer.from(good.split('.')[1] ?? '', 'base64url').toString())
    const sign = (changed: object, header: object = {}, by: CryptoKey | Uint8Array = privateKey) =>
      new SignJWT({ ...claims, ...changed })
        .setProtectedHeader({ alg: 'RS256', kid: 'known', ...header })
        .sign(by)
    const none = Buffer.from('{"alg":"none","kid":"known"}').toString('base64url')
    const spki = Buffer.from(await exportSPKI(publicKey))
    const one = (name: string, signature: string, members: Partial<Case> = {}): Case => ({
      name,
      signature,
      body: BODY,
      now: NOW,
      good: false,
      ...members,
    })
    cases = [
      one('ours', good, { good: true }),
      one('ours at the end of its window', good, { now: NOW + 300, good: true }),
      one('ours for a clock that is slow', good, { now: NOW - 10, good: true }),
      one('an unknown kid', await sign({}, { kid: 'other' })),
      one('another key under the known kid', await sign({}, {}, stranger.privateKey)),
      one('alg none', `${none}.${good.split('.')[1]}.`),
      one('HS256 with the public key', await sign({}, { alg: 'HS256' }, spki)),
      one('a changed body', good, { body: BODY.replace('created', 'creatod') }),
      one('another organization', await sign({ aud: 'org_2' })),
      one('another environment', await sign({ iss: 'https://sandbox.example.com/' })),
      one('a signature that has expired', good, { now: NOW + 311 }),
      one('an iat ahead', good, { now: NOW - 11 }),
      one('a long window', await sign({ exp: NOW + 301 })),
      one('no JWT', 'nonsense'),
    ]
    folder = mkdtempSync(join(tmpdir(), 'webhooks-guide-'))
    writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys }))
    writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const verdicts = (command: string, ...words: string[]) =>
    execFileSync(command, words, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, GOFLAGS: '-mod=mod' },
    })
      .trim()
      .split('\n')
      .map((line, index) => `${cases[index]?.name}: ${line}`)
  const expected = () => cases.map(({ name, good }) => `${name}: ${good}`)

  test('verifies in Node', () => {
    writeFileSync(
      join(folder, 'guide.mjs'),
      `${snippet('js')}
import { readFileSync } from 'node:fs'
const read = (name) => JSON.parse(readFileSync(name, 'utf8'))
for (const { signature, body, now } of read('cases.json')) {
  try {
    verifyWebhook(read('keys.json'), signature, Buffer.from(body), now, { issuer: '${BASE_URL}/', organization: '${ORGANIZATION}' })
    console.log(true)
  } catch {
    console.log(false)
  }
}`,
    )
    expect(verdicts(process.execPath, 'guide.mjs')).toEqual(expected())
  })

  const inPython = has('python3', '-c', 'import cryptography') ? test : test.skip
  inPython('verifies in Python', () => {
    writeFileSync(
      join(folder, 'guide.py'),
      `${snippet('python')}
keys = json.load(open("keys.json"))
for case in json.load(open("cases.json")):
    try:
        verify_webhook(keys, case["signature"], case["body"].encode(), case["now"], "${BASE_URL}/", "${ORGANIZATION}")
        print("true")
    except Exception:
        print("false")
`,
    )
    expect(verdicts('python3', 'guide.py')).toEqual(expected())
  })

  const inGo = has('go', 'version') ? test : test.skip
  inGo(
    'verifies in Go',
    () => {
      writeFileSync(join(folder, 'go.mod'), 'module guide\n\ngo 1.22\n')
      writeFileSync(join(folder, 'verify.go'), snippet('go'))
      writeFileSync(
        join(folder, 'main.go'),
        `package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	var keys KeySet
	var cases []struct {
		Signature, Body string
		Now             int64
	}
	for name, target := range map[string]any{"keys.json": &keys, "cases.json": &cases} {
		text, err := os.ReadFile(name)
		if err != nil {
			panic(err)
		}
		if err := json.Unmarshal(text, target); err != nil {
			panic(err)
		}
	}
	for _, one := range cases {
		fmt.Println(VerifyWebhook(keys, one.Signature, []byte(one.Body), one.Now, "${BASE_URL}/", "${ORGANIZATION}") == nil)
	}
}
`,
      )
      expect(verdicts('go', 'run', '.')).toEqual(expected())
    },
    180_000,
  )
})
