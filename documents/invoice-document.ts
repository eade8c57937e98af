/** States what an invoice for value added tax has to state (decisions 6.3). */
import { setImmediate as yieldToOthers } from 'node:timers/promises'
import PDFDocument from 'pdfkit'
import type { Contact } from '../billing/contacts.ts'
import { currencyExponent, Money } from '../billing/money.ts'
import { type TaxTotal, taxText } from '../billing/taxes.ts'
import { allFonts, type Line, linesOf, runWidth, type Weight, widthOf } from './fonts.ts'
import type { Logo } from './logo.ts'

/** Amounts are decimal strings. */
export interface InvoiceDocument {
  readonly id: string
  readonly number: number | null
  readonly status: string
  readonly currency: string
  /** As the organization was when it issued the invoice. */
  readonly issuer: {
    readonly name: string
    readonly website: string | null
    readonly taxDescriptor: string | null
    readonly timeZone: string
  } & Pick<
    Contact,
    'address' | 'address2' | 'city' | 'region' | 'country' | 'postalCode' | 'phoneNumbers' | 'emails'
  >
  readonly logo: Logo | null
  readonly billTo: Contact | null
  readonly deliverTo: Contact | null
  readonly organizationTaxId: TaxId | null
  readonly customerTaxId: TaxId | null
  readonly issuedTime: Date | null
  readonly dueTime: Date | null
  readonly paidTime: Date | null
  readonly voidedTime: Date | null
  readonly poNumber: string | null
  readonly notes: string | null
  readonly lines: readonly DocumentLine[]
  readonly discounts: readonly { readonly description: string; readonly amount: string }[]
  readonly taxes: readonly TaxTotal[]
  readonly amount: string
  readonly amountPaid: string
  readonly amountCredited: string
  readonly amountRefunded: string
  readonly amountDue: string
}

export interface DocumentLine {
  readonly description: string
  readonly quantity: number
  readonly unitPrice: string
  readonly amount: string
  /** null: none. The end is exclusive. */
  readonly period: { readonly start: Date; readonly end: Date | null } | null
  /** In percent; null: none. */
  readonly taxRate: string | null
}

interface TaxId {
  readonly type: 'eu-vat' | 'other'
  readonly value: string
}

/** Equal invoices look equal. Between lines, whatever else the process has to do is done. */
export async function invoicePdf(invoice: InvoiceDocument): Promise<Buffer> {
  const pdf = new PDFDocument({
    size: 'A4',
    margin: 0,
    bufferPages: true,
    info: {
      Title: titleOf(invoice),
      Author: invoice.issuer.name,
      CreationDate: invoice.issuedTime ?? new Date(0),
    },
    lang: 'en',
    displayTitle: true,
  })
  const chunks: Buffer[] = []
  const written = new Promise<void>((resolve, reject) => {
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk))
    pdf.on('end', resolve)
    pdf.on('error', reject)
  })
  const page = new Page(pdf)
  writeHead(page, invoice)
  writeParties(page, invoice)
  await writeLines(page, invoice)
  writeTotals(page, invoice)
  writeNotes(page, invoice)
  writeFooters(pdf, page, invoice)
  pdf.end()
  await written
  return Buffer.concat(chunks)
}

/** In points. */
const [WIDTH, HEIGHT, MARGIN] = [595.28, 841.89, 48]
const [LEFT, RIGHT] = [MARGIN, WIDTH - MARGIN]
const BOTTOM = HEIGHT - 76
const [GREY, RULE, INK] = ['#5a6270', '#c9ced6', '#14181f']

interface Style {
  readonly size?: number
  readonly weight?: Weight
  readonly color?: string
  readonly align?: 'left' | 'right'
}

class Page {
  readonly pdf: PDFKit.PDFDocument
  y = MARGIN

  constructor(pdf: PDFKit.PDFDocument) {
    this.pdf = pdf
    // The types of pdfkit know files only; pdfkit takes parsed fonts too.
    for (const font of allFonts()) pdf.registerFont(font.postscriptName, font as unknown as Buffer)
  }

  /** Returns the height below the text. */
  write(text: string, x: number, width: number, style: Style = {}, y = this.y): number {
    const { size = 9, weight = 'regular' } = style
    return this.writeText(linesOf(text, weight, size, width), x, width, style, y)
  }

  private writeText(lines: readonly Line[], x: number, width: number, style: Style, y: number): number {
    const { size = 9, color = INK, align = 'left' } = style
    let baseline = y + size
    for (const line of lines) {
      this.writeLine(line, align === 'left' ? x : x + width - line.width, baseline, size, color)
      baseline += leading(size)
    }
    return baseline - size
  }

  /** As `write` at the height of the page, which it moves; goes on on the next page where this one ends. */
  flow(text: string, x: number, width: number, style: Style = {}, onNewPage?: () => void): void {
    const { size = 9, weight = 'regular' } = style
    for (const line of linesOf(text, weight, size, width)) {
      this.require(leading(size), onNewPage)
      this.y = this.writeText([line], x, width, style, this.y)
    }
  }

  require(height: number, onNewPage: () => void = () => undefined): void {
    if (this.y + height <= BOTTOM) return
    this.pdf.addPage()
    this.y = MARGIN
    onNewPage()
  }

  rule(y = this.y, color = RULE): void {
    this.pdf.moveTo(LEFT, y).lineTo(RIGHT, y).lineWidth(0.7).strokeColor(color).stroke()
  }

  private writeLine({ runs }: Line, x: number, baseline: number, size: number, color: string): void {
    let at = x
    for (const { font, text } of runs) {
      this.pdf.font(font.postscriptName).fontSize(size).fillColor(color)
      this.pdf.text(text, at, baseline, { lineBreak: false, baseline: 'alphabetic' })
      at += runWidth({ font, text }, size)
    }
  }
}

function leading(size: number): number {
  return size * 1.4
}

function heightOf(text: string, width: number, size = 9, weight: Weight = 'regular'): number {
  return linesOf(text, weight, size, width).length * leading(size)
}

function writeHead(page: Page, invoice: InvoiceDocument): void {
  const { issuer, logo } = invoice
  const half = (RIGHT - LEFT) / 2 - 12
  const top = page.y
  let left = top
  if (logo !== null) {
    const scale = Math.min(180 / logo.width, 56 / logo.height)
    page.pdf.image(logo.bytes, LEFT, left, { width: logo.width * scale, height: logo.height * scale })
    left += logo.height * scale + 10
  }
  left = page.write(issuer.name, LEFT, half, { size: 12, weight: 'bold' }, left)
  for (const line of [
    ...addressLines(issuer),
    ...reachLines(issuer),
    ...(issuer.website === null ? [] : [issuer.website]),
    ...taxIdLines(invoice.organizationTaxId),
  ]) {
    left = page.write(line, LEFT, half, { color: GREY }, left)
  }
  const x = LEFT + half + 24
  let right = page.write(headingOf(invoice), x, half, { size: 20, weight: 'bold', align: 'right' }, top) + 6
  for (const [name, value] of factsOf(invoice)) {
    page.write(name, x, half * 0.3, { color: GREY }, right)
    // An id fits on one line.
    const size = widthOf(value, 'regular', 9) > half * 0.7 ? 8 : 9
    right = page.write(value, x + half * 0.3, half * 0.7, { align: 'right', size }, right) + 1
  }
  page.y = Math.max(left, right) + 18
}

function headingOf({ status }: InvoiceDocument): string {
  if (status === 'draft') return 'Draft invoice'
  if (status === 'voided') return 'Invoice (void)'
  return 'Invoice'
}

function titleOf(invoice: InvoiceDocument): string {
  return `${headingOf(invoice)} ${invoice.number ?? invoice.id}`
}

function factsOf(invoice: InvoiceDocument): [string, string][] {
  const { timeZone } = invoice.issuer
  const dates: [string, Date | null][] = [
    ['Date of issue', invoice.issuedTime],
    ['Due', invoice.dueTime],
    ['Paid', invoice.paidTime],
    ['Void since', invoice.voidedTime],
  ]
  return [
    ...(invoice.number === null ? [] : [['Invoice number', String(invoice.number)] as [string, string]]),
    ...dates.flatMap(([name, time]): [string, string][] =>
      time === null ? [] : [[name, dateText(time, timeZone)]],
    ),
    ...(invoice.poNumber === null ? [] : [['Purchase order', invoice.poNumber] as [string, string]]),
    ['Currency', invoice.currency],
    ['Reference', invoice.id],
  ]
}

function writeParties(page: Page, invoice: InvoiceDocument): void {
  const { billTo, deliverTo, customerTaxId } = invoice
  const half = (RIGHT - LEFT) / 2 - 12
  page.rule(page.y - 8)
  const column = (title: string, lines: readonly string[], x: number): number => {
    let y = page.write(title, x, half, { size: 8, weight: 'bold', color: GREY }, page.y) + 2
    for (const [at, line] of lines.entries())
      y = page.write(line, x, half, at === 0 ? { weight: 'bold' } : {}, y)
    return y
  }
  const bottoms = [column('Bill to', [...contactLines(billTo), ...taxIdLines(customerTaxId)], LEFT)]
  if (deliverTo !== null) bottoms.push(column('Deliver to', contactLines(deliverTo), LEFT + half + 24))
  page.y = Math.max(...bottoms) + 20
}

interface Column {
  readonly title: string
  readonly x: number
  readonly width: number
  readonly align: 'left' | 'right'
  readonly text: (line: DocumentLine) => string
}

function columnsOf({ lines, currency }: InvoiceDocument): Column[] {
  const isTaxed = lines.some(({ taxRate }) => taxRate !== null)
  const right: Omit<Column, 'x'>[] = [
    { title: 'Quantity', width: 58, align: 'right', text: ({ quantity }) => numberText(String(quantity)) },
    {
      title: 'Unit price',
      width: 84,
      align: 'right',
      text: ({ unitPrice }) => amountText(unitPrice, currency),
    },
    ...(isTaxed
      ? [
          {
            title: 'Tax',
            width: 44,
            align: 'right' as const,
            text: ({ taxRate }: DocumentLine) => rateText(taxRate),
          },
        ]
      : []),
    { title: 'Amount', width: 92, align: 'right', text: ({ amount }) => amountText(amount, currency) },
  ]
  let x = RIGHT - right.reduce((sum, { width }) => sum + width, 0)
  const description: Column = {
    title: 'Description',
    x: LEFT,
    width: x - LEFT - 8,
    align: 'left',
    text: (line) => line.description,
  }
  return [
    description,
    ...right.map((column) => {
      const placed = { ...column, x }
      x += column.width
      return placed
    }),
  ]
}

/** Height of the titles of the columns. */
const TITLES = 19

async function writeLines(page: Page, invoice: InvoiceDocument): Promise<void> {
  const columns = columnsOf(invoice)
  const writeTitles = () => {
    for (const { title, x, width, align } of columns)
      page.write(title, x, width, { size: 8, weight: 'bold', color: GREY, align })
    page.y += TITLES - 3
    page.rule(page.y - 3, INK)
    page.y += 3
  }
  page.require(60)
  writeTitles()
  for (const line of invoice.lines) {
    await yieldToOthers()
    const period = periodText(line, invoice.issuer.timeZone)
    const width = columns[0]?.width ?? 0
    const height = heightOf(line.description, width) + (period === null ? 0 : heightOf(period, width, 8))
    page.require(Math.min(height + 10, BOTTOM - MARGIN - TITLES), writeTitles)
    const [, ...others] = columns
    let bottoms = others.map(({ x, width, align, text }) => page.write(text(line), x, width, { align }))
    const onNewPage = () => {
      writeTitles()
      bottoms = []
    }
    page.flow(line.description, LEFT, width, {}, onNewPage)
    if (period !== null) page.flow(period, LEFT, width, { size: 8, color: GREY }, onNewPage)
    page.y = Math.max(page.y, ...bottoms) + 4
    page.rule()
    page.y += 5
  }
}

function writeTotals(page: Page, invoice: InvoiceDocument): void {
  const { currency, discounts, taxes } = invoice
  const sum = (amounts: readonly string[]) =>
    amounts.reduce((total, amount) => total.plus(amount), new Money(0)).toFixed()
  const rows: [string, string, Weight][] = [
    ['Subtotal', sum(invoice.lines.map(({ amount }) => amount)), 'regular'],
    ...discounts.map(({ description, amount }): [string, string, Weight] => [
      description,
      new Money(amount).neg().toFixed(),
      'regular',
    ]),
    [
      'Total excluding tax',
      new Money(invoice.amount).minus(sum(taxes.map(({ amount }) => amount))).toFixed(),
      'regular',
    ],
    ...(taxes.length === 0
      ? [['Tax', '0', 'regular'] as [string, string, Weight]]
      : taxes.map((tax): [string, string, Weight] => [taxRow(tax, currency), tax.amount, 'regular'])),
    ['Total', invoice.amount, 'bold'],
    ...(new Money(invoice.amountCredited).isZero()
      ? []
      : [
          ['Credit', new Money(invoice.amountCredited).neg().toFixed(), 'regular'] as [
            string,
            string,
            Weight,
          ],
        ]),
    ['Paid', new Money(invoice.amountPaid).neg().toFixed(), 'regular'],
    ...(new Money(invoice.amountRefunded).isZero()
      ? []
      : [['Refunded', invoice.amountRefunded, 'regular'] as [string, string, Weight]]),
  ]
  const [x, width, value] = [RIGHT - 300, 190, 110]
  const height = rows.reduce((total, [name, , weight]) => total + heightOf(name, width, 9, weight) + 4, 40)
  page.y += 6
  // They stand together where a page has room for all of them.
  if (height <= BOTTOM - MARGIN) page.require(height)
  for (const [name, amount, weight] of rows) {
    page.require(Math.min(heightOf(name, width, 9, weight), BOTTOM - MARGIN))
    page.write(amountText(amount, currency), x + width, value, { weight, align: 'right' })
    page.flow(name, x, width, { weight, color: weight === 'bold' ? INK : GREY })
    page.y += 4
  }
  page.require(24)
  page.pdf.rect(x - 8, page.y, RIGHT - x + 8, 24).fill('#eef1f5')
  page.y += 7
  page.write('Amount due', x, width, { size: 10, weight: 'bold' })
  const due = `${invoice.currency} ${amountText(invoice.amountDue, currency)}`
  page.write(due, x + width - 60, value + 60 - 8, { size: 10, weight: 'bold', align: 'right' })
  page.y += 34
}

function taxRow(tax: TaxTotal, currency: string): string {
  const base = `${taxText(tax)} on ${amountText(tax.base, currency)}`
  return tax.isIncluded === true ? `${base}, included` : base
}

/** What invoices within the European Union have to state where the customer owes the tax. */
const REVERSE_CHARGE = 'Reverse charge: the recipient of the supply is liable for the value added tax.'

function writeNotes(page: Page, { notes, issuer, taxes }: InvoiceDocument): void {
  const isReverse = taxes.some(({ isReverseCharge }) => isReverseCharge)
  for (const text of [isReverse ? REVERSE_CHARGE : null, notes, issuer.taxDescriptor]) {
    if (text === null || text === '') continue
    for (const paragraph of text.split('\n')) {
      page.require(Math.min(heightOf(paragraph, RIGHT - LEFT), BOTTOM - MARGIN))
      page.flow(paragraph, LEFT, RIGHT - LEFT)
    }
    page.y += 8
  }
}

function writeFooters(pdf: PDFKit.PDFDocument, page: Page, invoice: InvoiceDocument): void {
  const { start, count } = pdf.bufferedPageRange()
  const { issuer, organizationTaxId } = invoice
  const left = [issuer.name, ...taxIdLines(organizationTaxId)].join(' · ')
  for (let at = start; at < start + count; at += 1) {
    pdf.switchToPage(at)
    const y = HEIGHT - 52
    const right = `${titleOf(invoice)} · Page ${at - start + 1} of ${count}`
    page.rule(y - 8)
    const space = RIGHT - LEFT - widthOf(right, 'regular', 8) - 16
    const [line] = linesOf(left, 'regular', 8, space)
    const text = line?.runs.map((run) => run.text).join('') ?? ''
    page.write(text, LEFT, space, { size: 8, color: GREY }, y)
    page.write(right, LEFT, RIGHT - LEFT, { size: 8, color: GREY, align: 'right' }, y)
  }
}

type Address = Pick<Contact, 'address' | 'address2' | 'city' | 'region' | 'country' | 'postalCode'>

function addressLines({ address, address2, city, region, country, postalCode }: Address): string[] {
  const place = [[postalCode, city].filter(isFilled).join(' '), region].filter(isFilled).join(', ')
  return [address, address2, place, country === null ? null : countryName(country)].filter(isFilled)
}

function contactLines(contact: Contact | null): string[] {
  if (contact === null) return []
  const person = [contact.firstName, contact.lastName].filter(isFilled).join(' ')
  return [
    ...[contact.organization, person].filter(isFilled),
    ...addressLines(contact),
    ...reachLines(contact),
  ]
}

function reachLines({ phoneNumbers, emails }: Pick<Contact, 'phoneNumbers' | 'emails'>): string[] {
  return [phoneNumbers, emails].flatMap((all) => (all.find(({ primary }) => primary) ?? all[0])?.value ?? [])
}

function taxIdLines(taxId: TaxId | null): string[] {
  if (taxId === null) return []
  return [`${taxId.type === 'eu-vat' ? 'VAT number' : 'Tax number'}: ${taxId.value}`]
}

function countryName(code: string): string {
  return new Intl.DisplayNames('en', { type: 'region', fallback: 'code' }).of(code) ?? code
}

function periodText({ period }: DocumentLine, timeZone: string): string | null {
  if (period === null) return null
  const { start, end } = period
  if (end === null) return `From ${dateText(start, timeZone)}`
  const [from, through] = [dateText(start, timeZone), dateText(new Date(end.getTime() - 1), timeZone)]
  return from === through ? from : `${from} – ${through}`
}

function dateText(time: Date, timeZone: string): string {
  let format = dateFormats.get(timeZone)
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone })
    dateFormats.set(timeZone, format)
  }
  return format.format(time)
}

/** By time zone: each takes a millisecond to make, and there are some hundreds. */
const dateFormats = new Map<string, Intl.DateTimeFormat>()

function amountText(amount: string, currency: string): string {
  const decimals = currencyExponent(currency) ?? 2
  const exact = new Money(amount)
  const text = exact.toFixed(Math.max(decimals, exact.decimalPlaces()))
  return numberText(exact.isZero() ? text.replace('-', '') : text)
}

function numberText(text: string): string {
  const [whole = '', fraction] = text.split('.')
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',').replace('-', '−')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

function rateText(rate: string | null): string {
  return rate === null ? '' : `${numberText(rate)}%`
}

function isFilled(text: string | null): text is string {
  return text !== null && text !== ''
}
