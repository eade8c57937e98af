/** The fields of a card. Card data go from here into one request body and nowhere else. */
import { grouped, readMonth, readYear, validateCode, validateExpiry, validateNumber } from './card-form.ts'
import type { LiveForm, Validators } from './live-form.ts'
import { element, field, value } from './page.ts'

export const CARD_VALIDATORS: Validators = {
  number: (finished) => validateNumber(value('number'), finished),
  month: (finished) => expiry({ month: finished, year: true }).month,
  year: (finished) => expiry({ month: true, year: finished }).year,
  code: (finished) => validateCode(value('code'), validateNumber(value('number'), false).brand, finished),
}
const CARD_FIELDS = Object.keys(CARD_VALIDATORS)

export function wireCardFields(form: HTMLFormElement, live: LiveForm): void {
  // The month can invalidate the year, and the brand the code.
  const dependent = new Map([
    ['month', 'year'],
    ['number', 'code'],
  ])
  form.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return
    const other = dependent.get(target.id)
    if (other !== undefined && value(other) !== '') live.validate(other)
    showBrand()
  })
  form.addEventListener('focusout', ({ target }) => {
    if (target instanceof HTMLInputElement && target.id === 'number') target.value = grouped(target.value)
  })
  form.addEventListener('click', ({ target }) => {
    if (!(target instanceof HTMLButtonElement) || target.dataset.card === undefined) return
    const { number, month, year } = { number: field('number'), month: field('month'), year: field('year') }
    number.value = target.dataset.card
    if (month.value === '') month.value = '12'
    if (year.value === '') year.value = String((new Date().getFullYear() + 3) % 100)
    for (const id of CARD_FIELDS) if (value(id) !== '') live.validate(id)
    showBrand()
    number.focus()
  })
}

export function cardOf(): object {
  return {
    pan: value('number'),
    cvv: value('code') || null,
    expMonth: readMonth(value('month')),
    expYear: readYear(value('year')),
  }
}

export function clearCard(live: LiveForm): void {
  for (const id of CARD_FIELDS) {
    field(id).value = ''
    live.forget(id)
  }
  showBrand()
}

function showBrand(): void {
  element('brand', HTMLElement).textContent = validateNumber(value('number'), false).brand
}

function expiry(finished: { readonly month: boolean; readonly year: boolean }) {
  return validateExpiry(value('month'), value('year'), Date.now(), finished)
}
