/** The port to whoever knows which taxes a sale bears: a table of rates, or a provider. */
import type { TaxedParty } from '../billing/tax-ids.ts'
import type { TaxSchedule } from '../billing/taxes.ts'

export interface TaxRequest {
  readonly currency: string
  readonly seller: Place & TaxedParty
  readonly buyer: Place & TaxedParty
  /** What is sold; null: no category. */
  readonly products: readonly { readonly id: string; readonly taxCategoryId: string | null }[]
}

interface Place {
  readonly country: string | null
  readonly region: string | null
}

export interface TaxCalculator {
  /** Returns the taxes of a sale. The same request has the same taxes: amounts follow from them by `billing/taxes.ts`. */
  taxesOf(request: TaxRequest): Promise<TaxSchedule>
}
