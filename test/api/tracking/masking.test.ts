import { describe, expect, test } from '@jest/globals'
import { LONGEST_BODY, maskedBody, maskedHeaders, maskedUrl } from '../../../api/tracking/masking.ts'
import { TEST_CARDS } from '../../support/cards.ts'
import fc from '../../support/fast-check.ts'

const KEY = `sk_sandbox_${'Ab3-_'.repeat(6)}`
const TOKEN = `at_sandbox_${'Cd4-_'.repeat(8)}`
const PAYMENT_TOKEN = 'tok_01M81YRS16QPW73WMJSFDYDSBQ'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjdXMifQ.c2lnbmF0dXJl'

describe('a body in the log', () => {
  test.each([
    ['{"pan":"4111111111111111","cvv":"9173"}', '{"pan":"***","cvv":"***"}'],
    ['{"cvv" : 9173, "expMonth":12}', '{"cvv" : "***", "expMonth":12}'],
    ['{"password":"a\\"b,\\\\","username":"ada"}', '{"password":"***","username":"ada"}'],
    [
      '{"newPassword":"x","secretKey":"y","accessToken":"z"}',
      '{"newPassword":"***","secretKey":"***","accessToken":"***"}',
    ],
    ['{"password":"cut in the mid', '{"password":"***"'],
    ['{"token":null,"isToken":false}', '{"token":null,"isToken":false}'],
    [`{"note":"pay with ${TEST_CARDS.approves} please"}`, '{"note":"pay with [card number] please"}'],
    [`{"note":"${KEY}"}`, '{"note":"***"}'],
    [`{"ids":["${PAYMENT_TOKEN}"],"at":"${TOKEN}","jwt":"${JWT}"}`, '{"ids":["***"],"at":"***","jwt":"***"}'],
    [
      '{"headers":[{"name":"X-A","value":"s]e\\"c"},{"value":"other","name":"X-B"}],"emails":[{"value":"a@b"}]}',
      '{"headers":[{"name":"X-A","value":"***"},{"value":"***","name":"X-B"}],"emails":[{"value":"a@b"}]}',
    ],
    ['{"headers":[{"value":"cut', '{"headers":[{"value":"***"'],
    [
      String.raw`{"note":"{\"cvv\": \"9173\",\"password\":\"x y\",\"a\":1}"}`,
      String.raw`{"note":"{\"cvv\": ***\",\"password\":***\",\"a\":1}"}`,
    ],
    [String.raw`"{\"password\":\"ab\\\"cdefgh\",\"a\":1}"`, String.raw`"{\"password\":***\",\"a\":1}"`],
    [String.raw`"{\"password\":\"ab\\\\\",\"a\":\"b\"}"`, String.raw`"{\"password\":***\\\\\",\"a\":\"b\"}"`],
    [String.raw`"password\":\"a\\\"cvv\":\"917\""`, String.raw`"password\":***\":***\""`],
    [String.raw`{"note":"cvv\": \"9173","a":1}`, String.raw`{"note":"cvv\": ***","a":1}`],
    ['{"id":"cus_1","amount":12.5}', '{"id":"cus_1","amount":12.5}'],
    ['{"cvvResponse":"M","code":"a","cidr":"b"}', '{"cvvResponse":"M","code":"a","cidr":"b"}'],
    ['{"a":1,"cvv":["917",{"b":3}],"c":2}', '{"a":1,"cvv":"***"'],
    [String.raw`{"note":"{\"CVC2\":{\"b\":917}}"}`, String.raw`{"note":"{\"CVC2\":***`],
    ['{"password":["hunter2"],"a":1}', '{"password":"***"'],
    ['{"auth":{"password":{"value":"hunter2"}}}', '{"auth":{"password":"***"'],
    ['{"secretKey":["abcdefghijkl"]}', '{"secretKey":"***"'],
    ['{"url":"https://hooks:hunter2@shop.example/in"}', '{"url":"https://***@shop.example/in"}'],
    ['{"url":"https://hooks:hun/t?r#2@shop.example"}', '{"url":"https://***@shop.example"}'],
    ['{"url":"ftp://hooks:hunt@r2@shop.example"}', '{"url":"ftp://***@shop.example"}'],
    ['{"host":"hooks:hunter2@shop.example"}', '{"host":"***@shop.example"}'],
    [
      '{"url":"https://shop.example:8443/a/ada@shop.example","email":"ada@shop.example"}',
      '{"url":"https://shop.example:8443/a/ada@shop.example","email":"ada@shop.example"}',
    ],
    ['{"url":"x","headers":{"X-Auth":"hunter2"},"a":1}', '{"url":"x","headers":"***"'],
    ['{"headers":[{"name":"X","value":["hunter2"]}]}', '{"headers":"***"'],
    ['{"headers":["X-Auth: hunter2"]}', '{"headers":"***"'],
    ['{"headers":"X-Auth: hunter2","a":1}', '{"headers":"***","a":1}'],
    [
      '{"headers":[{"name":"X","status":"active","content":"hunter2","n":917}, {}],"a":1}',
      '{"headers":[{"name":"X","status":"active","content":"***","n":"***"}, {}],"a":1}',
    ],
    ['{"headers":[],"a":1}', '{"headers":[],"a":1}'],
    ['{"a":{":":null},"pan":"hunter2"}', '{"a":{":":null},"pan":"***"}'],
    [String.raw`{"a\"password":"hunter2"}`, String.raw`{"a\"password":"***"}`],
    [String.raw`{"note":"{\"headers\":{\"X\":\"hunter2\"}}"}`, String.raw`{"note":"{\"headers\":***`],
  ])('%s is kept as %s', (text, kept) => {
    expect(maskedBody(text)).toBe(kept)
  })

  test.each([`x-${JWT}`, `..${JWT}`, `${'A-'.repeat(20)}${JWT}.more`, `${'a.b-'.repeat(9)}${JWT}`])(
    'has no part of the JWT in %s',
    (text) => {
      expect(maskedBody(text)).toMatch(/\*\*\*$/)
      expect(maskedBody(text)).not.toContain('eyJ')
    },
  )

  test('of none is none', () => expect(maskedBody(null)).toBeNull())

  test('is cut, and never within a secret', () => {
    for (const [secret, rest] of [
      [`"${TEST_CARDS.approves}"`, TEST_CARDS.approves],
      [`"${KEY}"`, KEY],
      [`"${TOKEN}"`, TOKEN],
      [JSON.stringify({ password: 'x'.repeat(5_000) }), 'x'.repeat(5_000)],
    ] as const) {
      for (let place = LONGEST_BODY - 60; place < LONGEST_BODY + 5; place += 1) {
        const text = `{"note":"${' '.repeat(place)}","s":${secret}}`
        const kept = maskedBody(text) ?? ''
        expect(kept.length).toBeLessThanOrEqual(LONGEST_BODY)
        expect(kept).not.toContain(rest.slice(0, 12))
      }
    }
  })

  test('has no secret, wherever it stands in whatever document', () => {
    const secret = 'Tr0ub4dor&3'
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 3 }),
        fc.constantFrom('pan', 'cvv', 'password', 'secretKey', 'token', 'apiKey', 'clientSecret'),
        fc.boolean(),
        fc.nat(4),
        (json, name, isPretty, depth) => {
          let document: unknown = { before: JSON.parse(json), [name]: secret, after: JSON.parse(json) }
          for (let level = 0; level < depth; level += 1) document = { inner: [document] }
          const text = JSON.stringify(document, null, isPretty ? 2 : 0)
          expect(maskedBody(text)).not.toContain(secret)
        },
      ),
    )
  })
})

describe('a password of a document in a document', () => {
  const part = fc.array(fc.constantFrom('"', '\\', '\n', ',', ':', '{', '}', 'é', '"a":', '\\"'), {
    maxLength: 6,
  })

  test('is masked to its end and no further, whatever is in it', () => {
    fc.assert(
      fc.property(fc.tuple(part, part, part), fc.integer({ min: 1, max: 4 }), ([one, two, three], depth) => {
        const password = `${one.join('')}Tr0ub${two.join('')}4dor${three.join('')}`
        let text = JSON.stringify({ username: 'ada', password, after: 'seen' })
        for (let level = 0; level < depth; level += 1) text = JSON.stringify(text)
        const kept = maskedBody(text)
        expect(kept).not.toMatch(/Tr0ub|4dor/)
        expect(kept).toContain('ada')
        expect(kept).toContain('seen')
      }),
    )
  })
})

/** Names under which callers send a security code or a card's number. */
const CARD_NAMES = [
  ...[
    'cvv',
    'cvv2',
    'cvc',
    'cvc2',
    'cvn',
    'cv2',
    'csc',
    'cid',
    'cardCvv',
    'card_cvc',
    'encryptedCvv',
    'cvvCode',
    'cvv_number',
  ],
  ...[
    'securityCode',
    'security_code',
    'security-code',
    'cardSecurityCode',
    'verificationValue',
    'verification_code',
  ],
  ...[
    'card verification number',
    'pan',
    'cardNumber',
    'card_number',
    'primaryAccountNumber',
    'account-number',
  ],
]

describe('card data in the log', () => {
  const spelt = fc
    .tuple(fc.constantFrom(...CARD_NAMES), fc.constantFrom('as it is', 'upper', 'lower', 'capital'))
    .map(([name, how]) => {
      if (how === 'upper') return name.toUpperCase()
      if (how === 'lower') return name.toLowerCase()
      return how === 'capital' ? `${name.charAt(0).toUpperCase()}${name.slice(1)}` : name
    })
  const held = fc.constantFrom<(code: string | number) => unknown>(
    (code) => code,
    (code) => [code],
    (code) => ({ value: code }),
    (code) => ({ first: [{ a: 1 }, {}], rest: [[code]] }),
    (code) => ['] }', { '"': '\\' }, code],
  )

  test('is masked, however its member is spelt and whatever holds it', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 2 }),
        spelt,
        held,
        fc.constantFrom<string | number>('90817', 90817),
        fc.nat(3),
        fc.nat(2),
        (json, name, hold, code, depth, quoted) => {
          const around = JSON.parse(json.replaceAll('90817', '')) as unknown
          let document: unknown = { before: around, [name]: hold(code), after: around }
          for (let level = 0; level < depth; level += 1) document = { inner: [document] }
          for (let level = 0; level < quoted; level += 1) document = { note: JSON.stringify(document) }
          expect(maskedBody(JSON.stringify(document))).not.toContain('90817')
        },
      ),
    )
  })
})

describe('a text made to be slow', () => {
  /** Milliseconds, the least of many. */
  const least = (text: string): number =>
    Math.min(
      ...Array.from({ length: 30 }, () => {
        const begun = performance.now()
        maskedBody(text)
        return performance.now() - begun
      }),
    )

  test.each([
    ['', '-eyJ', ''],
    ['', '.eyJ', ''],
    ['"pan\\":\\"', '\\', ''],
    ['', '"headers":[', '"\\\n'],
    ['', '"pan":"', '\\\n'],
    ['', 'aa_a-', ''],
    ['', '4 ', ''],
    ['', '6-0 ', ''],
    ['"', 'cvv', ''],
    ['', '"cvc', ''],
    ['', '"cvv":', ''],
    ['', '"cvv\\":[', '"'],
    ['"cvv"', ' ', ''],
    ['"cvv":', ' ', ''],
    ['', '"a":{', ''],
    ['', '"headers":[{', ''],
    ['"headers":[', '{"value":"a"},', ''],
    ['', '//a:b', ''],
    ['', '/', ''],
    ['', '//a:', ''],
    ['//', 'a@', '"'],
    ['', '"host" ', ''],
  ])('%j and many %j takes time in proportion to its length', (begin, part, end) => {
    const text = (length: number) => `${begin}${part.repeat(length / part.length)}${end}`
    // Four times the text; in proportion to its square it would be sixteen times the time.
    expect(least(text(12_000)) / least(text(3_000))).toBeLessThan(10)
  })
})

describe('a header or URL in the log', () => {
  test('of a credential has its name alone, others are masked like bodies and bounded', () => {
    const headers = {
      authorization: `Bearer ${JWT}`,
      'svc-apikey': KEY,
      cookie: 'session=1',
      'set-cookie': ['a=1', 'b=2'],
      'x-auth-token': 'secret',
      'X-Api-Key': 'secret',
      access_key: 'secret',
      'idempotency-key': 'order-1',
      accept: ['text/html', '*/*'],
      'x-note': `see ${KEY} and ${TEST_CARDS.approves}`,
      'x-long': 'x'.repeat(9_000),
      'x-none': undefined,
    }
    expect(maskedHeaders(headers)).toEqual({
      authorization: '***',
      'svc-apikey': '***',
      cookie: '***',
      'set-cookie': '***',
      'x-auth-token': '***',
      'X-Api-Key': '***',
      access_key: '***',
      'idempotency-key': 'order-1',
      accept: 'text/html, */*',
      'x-note': 'see *** and [card number]',
      'x-long': 'x'.repeat(2_048),
    })
  })

  test('has no token in its path or query, however it is encoded', () => {
    const every = (text: string) => [...Buffer.from(text)].map((byte) => `%${byte.toString(16)}`).join('')
    const grouped = TEST_CARDS.approves.replaceAll(/.{4}(?=.)/g, '$& ')
    const at = 'https://api.example/organizations/org/authentication-tokens'
    for (const [token, card] of [
      [TOKEN, TEST_CARDS.approves],
      [`%61${TOKEN.slice(1)}`, encodeURIComponent(grouped)],
      [every(TOKEN), grouped.replaceAll(' ', '+')],
      [`%ff${every(TOKEN)}`, every(grouped)],
    ]) {
      const shown = maskedUrl(`${at}/${token}?q=${card}`, [])
      expect(shown.replace('\uFFFD', '')).toBe(`${at}/***?q=[card number]`)
    }
    expect(maskedUrl(`${at}/%6fld%20word?q=a%2Bb`, ['old word'])).toBe(`${at}/***?q=a+b`)
  })

  test('is kept as it was sent where it has no secret', () => {
    const url =
      'https://api.example/organizations/org/customers?q=a%20b+c&filter=email%3Aada%40example.com%00'
    expect(maskedUrl(url, ['', 'secret'])).toBe(url)
    expect(maskedUrl(`${url}${'x'.repeat(9_000)}`, [])).toBe(`${url}${'x'.repeat(9_000)}`.slice(0, 2_048))
  })
})
