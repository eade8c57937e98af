import { ID_PATTERN, ID_RULE } from '../../../billing/id-format.ts'

export interface Verdict {
  readonly state: 'open' | 'right' | 'wrong'
  /** A sentence for the user, or empty. It contains no digit of a card and no part of a key. */
  readonly message: string
}

export const OPEN: Verdict = { state: 'open', message: '' }
export const RIGHT: Verdict = { state: 'right', message: '' }

export function wrong(message: string): Verdict {
  return { state: 'wrong', message }
}

export function missing(what: string, finished: boolean): Verdict {
  return finished ? wrong(`Enter ${what}.`) : OPEN
}

export function validateOrganization(written: string, finished: boolean): Verdict {
  const text = written.trim()
  if (text === '') return missing('the organization', finished)
  return new RegExp(ID_PATTERN).test(text) ? RIGHT : wrong(`An id ${ID_RULE}.`)
}

/** Validates a publishable key. A secret key is refused, because it must never be in a payer's browser. */
export function validatePublishableKey(written: string, finished: boolean): Verdict {
  const text = written.trim()
  if (text === '') return missing('the publishable key', finished)
  if (text.startsWith('sk_')) {
    return wrong('That is a secret key, which must never reach a browser. Enter the publishable one, pk_….')
  }
  if (/^pk_[\w-]+$/.test(text)) return RIGHT
  return !finished && 'pk_'.startsWith(text) ? OPEN : wrong('A publishable key begins with pk_.')
}

/** Validates a sandbox's secret key, for pages that only a merchant opens. */
export function validateSecretKey(written: string, finished: boolean): Verdict {
  const text = written.trim()
  if (text === '') return missing('the secret key', finished)
  if (/^sk_sandbox_[\w-]+$/.test(text)) return RIGHT
  return !finished && 'sk_sandbox_'.startsWith(text)
    ? OPEN
    : wrong("The sandbox's secret keys begin with sk_sandbox_.")
}
