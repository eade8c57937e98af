/** Resources as a customer's browser sees them. Records of other customers do not exist for it. */

import { updateAccount } from '../../commands/catalog/update-account.ts'
import { lockChargeable } from '../../commands/orders/charge-open-invoices.ts'
import { createPaymentInstrument } from '../../commands/payments/create-payment-instrument.ts'
import {
  emitInstrumentModified,
  lockPaymentInstrument,
  updatePaymentInstrument,
} from '../../commands/payments/update-payment-instrument.ts'
import { changeRow } from '../../db/change-row.ts'
import { searchExpression } from '../../db/entities/columns.ts'
import type { PaymentInstrument as PaymentInstrumentRow } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import { customerEvent } from '../../events/customer-events.ts'
import { presentInvoice } from '../../representations/invoice.ts'
import { type ShownMembers, storefrontView } from '../../representations/storefront.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import { Problem } from '../http/problems.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { patch } from '../resources/patch.ts'
import { readOne } from '../resources/read.ts'
import { notFound, type Resource, type ResourceRow, type Writer } from '../resources/resource.ts'
import { respondIn } from '../resources/respond.ts'
import { contactOf } from '../schemas/contact.ts'
import {
  StorefrontAccount,
  StorefrontInvoice,
  StorefrontOrder,
  StorefrontPaymentInstrument,
  type StorefrontPaymentInstrumentPatch,
  StorefrontPlan,
  StorefrontProduct,
  StorefrontTransaction,
  StorefrontWebsite,
} from '../schemas/storefront.ts'
import { customers } from './customers.ts'
import { invoices } from './invoices.ts'
import { subscriptions } from './orders.ts'
import { deactivate, paymentInstruments } from './payment-instruments.ts'
import { plans } from './plans.ts'
import { products } from './products.ts'
import { transactions } from './transactions.ts'
import { websites } from './websites.ts'

const ofCustomer = (context: OperationContext) => ({
  text: 'row.customer_id = ?',
  values: [customerOf(context)],
})

export const storefrontAccount = storefront(customers, {
  name: 'Account',
  label: 'account',
  path: 'storefront/account',
  schema: StorefrontAccount,
  restriction: (context) => ({ text: 'row.id = ?', values: [customerOf(context)] }),
})

export const storefrontOrders = storefront(subscriptions, {
  name: 'Order',
  label: 'order',
  path: 'storefront/orders',
  schema: StorefrontOrder,
  restriction: ofCustomer,
})

/** Customers see no drafts, and an invoice without its transactions, which are a list of their own. */
export const storefrontInvoices = storefront(
  { ...invoices, present: (row, { baseUrl }) => presentInvoice(row, baseUrl) },
  {
    path: 'storefront/invoices',
    schema: StorefrontInvoice,
    restriction: (context) => ({
      text: `row.customer_id = ? and row.status <> 'draft'`,
      values: [customerOf(context)],
    }),
  },
)

export const storefrontPaymentInstruments = storefront(paymentInstruments, {
  path: 'storefront/payment-instruments',
  schema: StorefrontPaymentInstrument,
  restriction: ofCustomer,
})

export const storefrontTransactions = storefront(transactions, {
  path: 'storefront/transactions',
  schema: StorefrontTransaction,
  // Not the request id, which is the gateway's.
  search: searchExpression('currency', 'type', 'result', 'status'),
  restriction: ofCustomer,
})

/** Plans on offer, and those of the customer's own orders. */
export const storefrontPlans = storefront(plans, {
  path: 'storefront/plans',
  schema: StorefrontPlan,
  restriction: (context) => ({
    text: `row.is_active or exists (
      select 1 from subscriptions ordered
       where ordered.organization_id = row.organization_id and ordered.customer_id = ?
         and ordered.items @> jsonb_build_array(jsonb_build_object('plan', jsonb_build_object('id', row.id))))`,
    values: [customerOf(context)],
  }),
})

export const storefrontProducts = storefront(products, {
  path: 'storefront/products',
  schema: StorefrontProduct,
})

export const storefrontWebsites = storefront(websites, {
  path: 'storefront/websites',
  schema: StorefrontWebsite,
})

export const storefrontInstrumentWriter: Pick<
  Writer<PaymentInstrumentRow, StorefrontPaymentInstrument>,
  'create'
> = {
  create: (unit, id, { token, billingAddress }, context) =>
    createPaymentInstrument(unit, context.cards, id, {
      customerId: customerOf(context),
      source: { token },
      billingAddress: contactOf(billingAddress),
    }),
}

export async function patchStorefrontInstrument(context: OperationContext): Promise<OperationResponse> {
  return await patch<PaymentInstrumentRow, StorefrontPaymentInstrumentPatch>(
    context,
    storefrontPaymentInstruments,
    {
      changeable: ['expMonth', 'expYear', 'billingAddress'],
      isReachable: isOf(customerOf(context)),
      lock: lockPaymentInstrument,
      update(unit, row, { expMonth, expYear, billingAddress }, { cards }) {
        const { useAsBackup, customFields } = row
        return updatePaymentInstrument(unit, cards, row, {
          expMonth,
          expYear,
          billingAddress: contactOf(billingAddress),
          useAsBackup,
          customFields: customFields ?? {},
        })
      },
      changed: emitInstrumentModified,
    },
  )
}

/** Responds with 409 if it is deactivated already. */
export async function deactivateStorefrontInstrument(context: OperationContext): Promise<OperationResponse> {
  return await deactivate(context, storefrontPaymentInstruments, isOf(customerOf(context)))
}

function isOf(customerId: string) {
  return (instrument: PaymentInstrumentRow) => instrument.customerId === customerId
}

export async function getAccount(context: OperationContext): Promise<OperationResponse> {
  return await readOne({ ...context, params: { id: customerOf(context) } }, storefrontAccount)
}

export async function putAccount(context: OperationContext): Promise<OperationResponse> {
  const id = customerOf(context)
  return await context.commit(async (unit) => {
    await lockChargeable(unit, id)
    const row = await lockRow(unit, customers.entity, id)
    if (row === null) throw notFound(storefrontAccount, id)
    requirePreconditions(context.preconditions, row.revision)
    const body = context.body<StorefrontAccount>()
    const changed = await changeRow(unit, row, () =>
      updateAccount(unit, row, {
        email: body.email ?? null,
        firstName: body.firstName ?? null,
        lastName: body.lastName ?? null,
        primaryAddress: contactOf(body.primaryAddress),
        defaultPaymentInstrumentId: body.defaultPaymentInstrument?.paymentInstrumentId ?? null,
      }),
    )
    if (changed) unit.emit(customerEvent(row, 'customer-updated', unit))
    return await respondIn(unit, context, storefrontAccount, row)
  })
}

/** The routes admit no other form than a customer's JWT. */
function customerOf({ credential }: OperationContext): string {
  if (credential.customerId === null) throw new Problem('forbidden', "Use a customer's JWT.")
  return credential.customerId
}

/**
 * Only the members of the storefront's schema can be searched for. Every row is presented alone, so that `present` of the
 * base must not read the database.
 */
function storefront<Row extends ResourceRow>(
  base: Resource<Row>,
  own: Pick<Resource<Row>, 'path' | 'schema'> &
    Partial<Pick<Resource<Row>, 'name' | 'label' | 'search' | 'restriction'>>,
): Resource<Row> {
  const { presentPage: _, expanders: __, ...resource } = base
  const { properties = {} } = own.schema as { properties?: object }
  const members = Object.keys(properties)
  const isShown = ([name]: [string, unknown]) => members.includes(name.split('.')[0] ?? '')
  return {
    ...resource,
    ...own,
    fields: Object.fromEntries(Object.entries(base.fields).filter(isShown)),
    present: async (row, context) =>
      storefrontView(await base.present(row, context), own.schema as ShownMembers, context),
  }
}
