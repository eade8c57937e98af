import { deflateSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { type DocumentLine, type InvoiceDocument, invoicePdf } from '../../documents/invoice-document.ts'
import { readLogo } from '../../documents/logo.ts'
import { pngLogo, pngOf } from '../support/logo.ts'
import { pdfText } from '../support/pdf-text.ts'

const NOBODY = {
  firstName: null,
  lastName: null,
  organization: null,
  address: null,
  address2: null,
  city: null,
  region: null,
  country: null,
  postalCode: null,
  phoneNumbers: [],
  emails: [],
  dob: null,
  jobTitle: null,
}

const LINE: DocumentLine = {
  description: 'Seats',
  quantity: 1250,
  unitPrice: '12.345',
  amount: '15431.25',
  period: { start: new Date('2026-10-31T23:00:00Z'), end: new Date('2026-11-30T23:00:00Z') },
  taxRate: '23',
}

const INVOICE: InvoiceDocument = {
  id: 'in_1',
  number: 1042,
  status: 'partially-paid',
  currency: 'EUR',
  issuer: {
    name: 'Łódzka Fabryka Dźwięku Sp. z o.o.',
    website: 'https://dzwiek.example',
    taxDescriptor: 'Reverse charge.',
    timeZone: 'Europe/Warsaw',
    address: 'ul. Piotrkowska 100',
    address2: null,
    city: 'Łódź',
    region: null,
    country: 'PL',
    postalCode: '90-001',
    phoneNumbers: [],
    emails: [{ label: null, value: 'faktury@dzwiek.example', primary: true }],
  },
  logo: null,
  billTo: { ...NOBODY, organization: 'Ελληνική Μουσική Α.Ε.', city: 'Αθήνα', country: 'GR' },
  deliverTo: { ...NOBODY, organization: '株式会社日本音響', city: '東京都', country: 'JP' },
  organizationTaxId: { type: 'eu-vat', value: 'PL1234563218' },
  customerTaxId: { type: 'other', value: '998877' },
  issuedTime: new Date('2026-10-31T23:30:00Z'),
  dueTime: new Date('2026-11-15T08:30:00Z'),
  paidTime: null,
  voidedTime: null,
  poNumber: 'PO-7',
  notes: 'Thank you.\nPlease name the number.',
  lines: [LINE],
  discounts: [{ description: 'Coupon SPRING', amount: '431.25' }],
  taxes: [{ name: 'VAT', rate: '23', country: 'PL', region: null, base: '15000', amount: '3450' }],
  amount: '18450',
  amountPaid: '5000.5',
  amountRefunded: '0',
  amountCredited: '0',
  amountDue: '13449.5',
}

const textOf = async (changes: Partial<InvoiceDocument> = {}) =>
  pdfText(await invoicePdf({ ...INVOICE, ...changes }))

describe('the document of an invoice', () => {
  test('states what an invoice for value added tax has to: both parties, number, dates, lines and totals', async () => {
    const [page = []] = await textOf()
    for (const line of [
      'Łódzka Fabryka Dźwięku Sp. z o.o.',
      'ul. Piotrkowska 100',
      '90-001 Łódź',
      'VAT number: PL1234563218',
      'Invoice number | 1042',
      'Date of issue | 1 November 2026',
      'Due | 15 November 2026',
      'Purchase order | PO-7',
      'Ελληνική Μουσική Α.Ε. | 株式会社日本音響',
      'Tax number: 998877',
      'Description | Quantity | Unit price | Tax | Amount',
      'Seats | 1,250 | 12.345 | 23% | 15,431.25',
      '1 November 2026 – 30 November 2026',
      'Subtotal | 15,431.25',
      'Coupon SPRING | −431.25',
      'Total excluding tax | 15,000.00',
      'VAT 23% on 15,000.00 | 3,450.00',
      'Total | 18,450.00',
      'Paid | −5,000.50',
      'Amount due | EUR 13,449.50',
      'Thank you.',
      'Please name the number.',
      'Reverse charge.',
    ]) {
      expect(page.join('\n')).toContain(line)
    }
    expect(page.at(-1)).toBe(
      'Łódzka Fabryka Dźwięku Sp. z o.o. · VAT number: PL1234563218 | Invoice 1042 · Page 1 of 1',
    )
  })

  test.each([
    ['Polish', 'Łukasz Żółć'],
    ['Greek', 'Ελένη Παπαδοπούλου'],
    ['Russian', 'Анна Каренина'],
    ['Vietnamese', 'Nguyễn Thị Hồng'],
    ['Turkish', 'İstanbul Şirketi'],
    ['Georgian', 'ნინო'],
    ['Japanese', '日本音響 カタカナ ひらがな'],
    ['mixed', 'Łódź 東京 Αθήνα'],
  ])('writes %s names with their own characters', async (_, name) => {
    const [page = []] = await textOf({ billTo: { ...NOBODY, organization: name }, deliverTo: null })
    const written = page.join('\n').replaceAll(' | ', '')
    expect(written).toContain(name)
    expect(written).not.toContain('\0')
  })

  test('shows a character that no font has as a box', async () => {
    const [page = []] = await textOf({ billTo: { ...NOBODY, organization: 'Seoul 서울' } })
    expect(page.join('\n')).toContain('Seoul \0\0')
  })

  test('breaks over pages between lines, with titles and numbers on each, and loses none', async () => {
    const lines = Array.from({ length: 50 }, (_, at) => ({
      ...LINE,
      description: `Line ${at + 1}${at % 5 === 0 ? ' with a description that takes more than a single line of the table' : ''}`,
    }))
    const pages = await textOf({ lines })
    expect(pages).toHaveLength(4)
    for (const [at, page] of pages.entries()) {
      expect(page.at(-1)).toContain(`Invoice 1042 · Page ${at + 1} of 4`)
      const hasLines = page.some((line) => line.startsWith('Line '))
      expect(page.includes('Description | Quantity | Unit price | Tax | Amount')).toBe(hasLines)
    }
    const found = pages.flat().flatMap((line) => /^Line (\d+)/.exec(line)?.[1] ?? [])
    expect(found).toEqual(lines.map((_, at) => String(at + 1)))
    expect(pages.at(-1)?.join('\n')).toContain('Amount due | EUR 13,449.50')
  })

  test('keeps overlong words and notes of many lines on the page', async () => {
    const pages = await textOf({
      notes: 'n'.repeat(1000),
      lines: [{ ...LINE, description: 'd'.repeat(255) }],
      issuer: { ...INVOICE.issuer, name: 'N'.repeat(255) },
    })
    const written = pages.flat().join('\n')
    expect(written.split('n').length - 1).toBeGreaterThanOrEqual(1000)
    expect(written.split('d').length - 1).toBeGreaterThanOrEqual(255)
    expect(pages.flat().every((line) => line.length < 200)).toBe(true)
  })

  const expectFootersLast = (pages: readonly string[][]) => {
    for (const [at, page] of pages.entries())
      expect(page.at(-1)).toContain(`· Page ${at + 1} of ${pages.length}`)
  }
  const long = (length: number) => 'Lorem ipsum dolor sit amet '.repeat(100).slice(0, length)

  test('has all of its totals within its pages, however long the names of its discounts are', async () => {
    const discounts = [1, 2, 3].map((count) => ({
      description: `Coupon ${count} ${long(936)}`,
      amount: '10',
    }))
    for (const count of [1, 40]) {
      const pages = await textOf({ discounts, lines: Array.from({ length: count }, () => LINE) })
      const written = pages.flat().join('\n')
      for (const row of ['Coupon 1', 'Coupon 3', 'Total | 18,450.00', 'Amount due | EUR 13,449.50'])
        expect(written).toContain(row)
      expectFootersLast(pages)
    }
  })

  test('goes on with an item that is longer than a page on the next one', async () => {
    const description = Array.from({ length: 180 }, (_, index) => `Row ${index + 1}`).join('\n')
    const pages = await textOf({ lines: [LINE, { ...LINE, description }, LINE] })
    expect(pages.length).toBeGreaterThan(2)
    const rows = pages.flat().filter((row) => row.startsWith('Row '))
    expect(rows.map((row) => row.split(' | ')[0])).toEqual(description.split('\n'))
    expect(rows[0]).toBe('Row 1 | 1,250 | 12.345 | 23% | 15,431.25')
    expectFootersLast(pages)
  })

  test.each([
    ['a draft', { status: 'draft', number: null, issuedTime: null, dueTime: null }, 'Draft invoice in_1'],
    [
      'a voided one',
      { status: 'voided', voidedTime: new Date('2026-11-02T00:00:00Z') },
      'Invoice (void) 1042',
    ],
  ])('names %s as such', async (_, changes, title) => {
    const [page = []] = await textOf(changes)
    expect(page.at(-1)).toContain(title)
  })

  test('has a row for each tax with what it taxes, and says which prices include', async () => {
    const vat = { name: 'VAT', country: 'PL', region: null }
    const [page = []] = await textOf({
      discounts: [],
      taxes: [
        { ...vat, rate: '23', base: '12000', amount: '2760', isIncluded: true },
        { ...vat, rate: '5', base: '600', amount: '30', isIncluded: true },
        { ...vat, rate: '23', base: '-100', amount: '-23' },
      ],
      amount: '15367',
    })
    const written = page.join('\n')
    expect(written).toContain(
      [
        'Total excluding tax | 12,600.00',
        'VAT 23% on 12,000.00, included | 2,760.00',
        'VAT 5% on 600.00, included | 30.00',
        'VAT 23% on −100.00 | −23.00',
        'Total | 15,367.00',
      ].join('\n'),
    )
    expect(written).not.toContain('Reverse charge:')
  })

  test('states a reverse charge', async () => {
    const reverse = { name: 'Reverse charge', rate: '0', country: 'GR', region: null } as const
    const [page = []] = await textOf({
      taxes: [{ ...reverse, base: '15000', amount: '0', isReverseCharge: true }],
      amount: '15000',
    })
    const written = page.join('\n')
    expect(written).toContain('Reverse charge on 15,000.00 | 0.00')
    expect(written).toContain(
      'Reverse charge: the recipient of the supply is liable for the value added tax.',
    )
  })

  test('shows the decimals of its currency, and no tax where there is none', async () => {
    const [page = []] = await textOf({
      currency: 'JPY',
      taxes: [],
      discounts: [],
      amount: '1500',
      amountPaid: '1500',
      amountDue: '0',
      lines: [{ ...LINE, quantity: 1, unitPrice: '1500', amount: '1500', taxRate: null }],
    })
    const written = page.join('\n')
    expect(written).toContain('Seats | 1 | 1,500 | 1,500')
    expect(written).toContain('Tax | 0\nTotal | 1,500')
    expect(written).toContain('Amount due | JPY 0')
  })

  test('is the same for the same invoice, but for its id', async () => {
    const [one, other] = [await invoicePdf(INVOICE), await invoicePdf(INVOICE)]
    expect(pdfText(one)).toEqual(pdfText(other))
    expect(one.length).toBe(other.length)
    expect(one.toString('latin1')).toContain('/CreationDate')
  })

  test('has the logo', async () => {
    const logo = readLogo(pngLogo())
    if ('problem' in logo) throw new Error(logo.problem)
    const [without, withLogo] = [await invoicePdf(INVOICE), await invoicePdf({ ...INVOICE, logo })]
    expect(without.toString('latin1')).not.toContain('/Subtype /Image')
    expect(withLogo.toString('latin1')).toContain('/Subtype /Image')
  })
})

describe('a logo', () => {
  test('is a PNG image whose size is read', () => {
    expect(readLogo(pngLogo(120, 40))).toMatchObject({ width: 120, height: 40 })
  })

  test.each([
    ['another kind of image', 'data:image/svg+xml;base64,PHN2Zy8+'],
    ['an address', 'https://example.com/logo.png'],
    ['not Base64', 'data:image/png;base64,%%%'],
    ['no image', `data:image/png;base64,${Buffer.from('hello').toString('base64')}`],
    ['too large a file', `data:image/png;base64,${Buffer.alloc(70_000).toString('base64')}`],
    ['too many pixels', pngOf(2000, 10, deflateSync(Buffer.alloc(1)))],
    ['fewer pixels than it says', pngOf(10, 10, deflateSync(Buffer.alloc(10)))],
    [
      'more pixels than it says, which would fill the memory',
      pngOf(10, 10, deflateSync(Buffer.alloc(20_000_000))),
    ],
    ['broken pixels', pngOf(10, 10, Buffer.from('broken'))],
    ['a JPEG image of one byte', 'data:image/jpeg;base64,AA=='],
    [
      'a JPEG image without a frame',
      `data:image/jpeg;base64,${Buffer.from('ffd8ffd9', 'hex').toString('base64')}`,
    ],
  ])('is refused with %s', (_, dataUrl) => {
    expect(readLogo(dataUrl)).toEqual({ problem: expect.stringMatching(/^must /) })
  })
})
