import { canonicalJson } from '../../billing/canonical-json.ts'
import {
  ConflictError,
  type FieldProblem,
  type InvalidField,
  InvalidFieldsError,
} from '../../billing/errors.ts'
import { amountOf, amountProblem, Money } from '../../billing/money.ts'
import { sealedCredentials } from '../../commands/payments/gateway-accounts.ts'
import { requireUnreferenced } from '../../commands/references.ts'
import { changeRow } from '../../db/change-row.ts'
import {
  type DailyLimit,
  type GatewayAccountStatus,
  gatewayAccountSearch,
} from '../../db/entities/gateway-account.ts'
import { GatewayAccount as GatewayAccountRow, TimelineEntry } from '../../db/entities/index.ts'
import { lockRow } from '../../db/lock-row.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { gatewayAccountEntry } from '../../events/timeline.ts'
import { CredentialsRefusedError } from '../../gateways/port.ts'
import { presentGatewayAccount } from '../../representations/gateway-account.ts'
import { requirePreconditions } from '../http/preconditions.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import { constant, fieldsOf } from '../query/fields.ts'
import { create } from '../resources/create.ts'
import { remove } from '../resources/delete.ts'
import { patch } from '../resources/patch.ts'
import { notFound, type Resource, type Writer } from '../resources/resource.ts'
import { respondIn } from '../resources/respond.ts'
import { upsert } from '../resources/upsert.ts'
import { GatewayAccount, type GatewayAccountPatch } from '../schemas/gateway-account.ts'

export const gatewayAccounts: Resource<GatewayAccountRow> = {
  name: 'GatewayAccount',
  label: 'gateway account',
  path: 'gateway-accounts',
  schema: GatewayAccount,
  entity: GatewayAccountRow,
  table: 'gateway_accounts',
  search: gatewayAccountSearch,
  fields: fieldsOf(GatewayAccount, {
    method: constant('payment-card'),
    organizationId: { sql: 'row.organization_id', type: 'text', always: true },
  }),
  present: (row, { baseUrl }) => presentGatewayAccount(row, baseUrl),
}

const STATUS_CHANGES = { active: 'enabled', inactive: 'disabled', closed: 'closed' } as const

export const gatewayAccountWriter: Writer<GatewayAccountRow, GatewayAccount> = {
  async create(unit, id, body, context) {
    if (body.gatewayName === 'TestGateway' && context.environment === 'live') {
      throw new InvalidFieldsError([
        { field: 'gatewayName', code: 'not-allowed', message: 'must not be TestGateway in live' },
      ])
    }
    if (body.gatewayName === 'Stripe' && body.credentials === undefined) {
      throw new InvalidFieldsError([{ field: 'credentials', code: 'required', message: 'is required' }])
    }
    unit.addTimelineEntry(gatewayAccountEntry(id, 'gateway-account-created', 'created', unit.now))
    return unit.create(GatewayAccountRow, {
      id,
      gatewayName: body.gatewayName,
      status: 'active',
      ...settingsOf(body),
      credentialsCipher: await cipherOf(body, context),
    })
  },
  async update(unit, row, body, context) {
    if (body.gatewayName !== row.gatewayName) {
      throw new ConflictError('The gatewayName of a gateway account cannot be changed.')
    }
    changeSettings(unit, row, settingsOf(body))
    if (body.credentials !== undefined) await changeCredentials(unit, row, body.credentials, context)
  },
}

/** The provider checks the credentials before anything is written. */
export async function postGatewayAccount(context: OperationContext, newId: () => string) {
  await requireAcceptedCredentials(context, context.body<GatewayAccount>())
  return await create(context, gatewayAccounts, gatewayAccountWriter, newId)
}

export async function putGatewayAccount(context: OperationContext): Promise<OperationResponse> {
  const account = await findAccount(context)
  requirePreconditions(context.preconditions, account?.revision ?? null)
  await requireAcceptedCredentials(
    context,
    ifValid(() => context.body<GatewayAccount>()),
  )
  return await upsert(context, gatewayAccounts, gatewayAccountWriter)
}

/** Null returns a member to its default. Credentials that the body does not have stay. */
export async function patchGatewayAccount(context: OperationContext): Promise<OperationResponse> {
  const account = await readAccount(context)
  const { gatewayName, revision } = account
  requirePreconditions(context.preconditions, revision)
  const current = presentGatewayAccount(account, context.baseUrl)
  const given = ifValid(() => context.patchedBody<GatewayAccountPatch>(current).body)
  await requireAcceptedCredentials(context, given && { ...given, gatewayName })
  return await patch<GatewayAccountRow, GatewayAccountPatch>(context, gatewayAccounts, {
    changeable: [...CHANGEABLE, 'credentials'],
    async update(unit, row, { acceptedCurrencies, credentials, ...body }) {
      if (acceptedCurrencies === undefined) {
        const message = 'is required'
        throw new InvalidFieldsError([{ field: 'acceptedCurrencies', code: 'required', message }])
      }
      changeSettings(unit, row, settingsOf({ ...body, acceptedCurrencies }))
      if (credentials !== undefined) await changeCredentials(unit, row, credentials, context)
    },
  })
}

/** A closed account stays closed. */
export async function changeStatus(
  context: OperationContext,
  status: GatewayAccountStatus,
): Promise<OperationResponse> {
  return await changed(context, (unit, row) => {
    if (row.status === 'closed' && status !== 'closed') {
      throw new ConflictError('The gateway account is closed, which is final.')
    }
    if (row.status === status) return
    row.status = status
    const said = STATUS_CHANGES[status]
    unit.addTimelineEntry(gatewayAccountEntry(row.id, `gateway-account-${said}`, said, unit.now))
  })
}

/** Responds with 204 if the provider takes the stored credentials. */
export async function checkCredentials(context: OperationContext): Promise<OperationResponse> {
  const account = await readAccount(context)
  await refusalAsField(() => context.gateway.probe(context.organizationId, account.id))
  return {}
}

/** Responds with 409 while an instrument or a transaction is with the account. */
export async function deleteGatewayAccount(context: OperationContext): Promise<OperationResponse> {
  return await remove(context, gatewayAccounts, async (unit, row) => {
    await requireUnreferenced(unit, 'gateway_accounts', row.id)
    // Another account may get the id.
    await unit.em.nativeDelete(TimelineEntry, {
      organizationId: unit.organizationId,
      gatewayAccountId: row.id,
    })
  })
}

async function changed(
  context: OperationContext,
  change: (unit: UnitOfWork, row: GatewayAccountRow) => void | Promise<void>,
): Promise<OperationResponse> {
  const id = context.params.id ?? ''
  return await context.commit(async (unit) => {
    const row = await lockRow(unit, GatewayAccountRow, id)
    if (row === null) throw notFound(gatewayAccounts, id)
    requirePreconditions(context.preconditions, row.revision)
    await changeRow(unit, row, () => change(unit, row))
    return await respondIn(unit, context, gatewayAccounts, row)
  })
}

async function readAccount(context: OperationContext): Promise<GatewayAccountRow> {
  const row = await findAccount(context)
  if (row === null) throw notFound(gatewayAccounts, context.params.id ?? '')
  return row
}

async function findAccount({
  em,
  organizationId,
  params,
}: OperationContext): Promise<GatewayAccountRow | null> {
  return await em.findOne(GatewayAccountRow, { organizationId, id: params.id ?? '' })
}

/** Returns null where the operation will refuse the body: providers are asked about valid bodies only. */
function ifValid<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

async function requireAcceptedCredentials(
  { gateway, organizationId }: OperationContext,
  given: (Pick<GatewayAccountPatch, 'credentials'> & Pick<GatewayAccount, 'gatewayName'>) | null,
): Promise<void> {
  const secretKey = given?.credentials?.secretKey
  if (given === null || secretKey === undefined) return
  await refusalAsField(() => gateway.probe(organizationId, { gatewayName: given.gatewayName, secretKey }))
}

async function refusalAsField(probe: () => Promise<void>): Promise<void> {
  try {
    await probe()
  } catch (error) {
    if (!(error instanceof CredentialsRefusedError)) throw error
    throw new InvalidFieldsError([
      { field: 'credentials.secretKey', code: 'not-allowed', message: error.message },
    ])
  }
}

const CHANGEABLE = [
  'acceptedCurrencies',
  'paymentCardSchemes',
  'priority',
  'dailyLimits',
  'takesCardNumbers',
  'descriptor',
  'customFields',
] as const satisfies readonly (keyof GatewayAccount)[]

function settingsOf(
  body: Pick<GatewayAccount, 'acceptedCurrencies'> &
    Partial<Pick<GatewayAccount, (typeof CHANGEABLE)[number]>>,
) {
  return {
    acceptedCurrencies: body.acceptedCurrencies,
    paymentCardSchemes: body.paymentCardSchemes ?? [],
    priority: body.priority ?? 0,
    dailyLimits: limitsOf(body.dailyLimits ?? []),
    takesCardNumbers: body.takesCardNumbers ?? false,
    descriptor: body.descriptor ?? null,
    customFields: body.customFields ?? {},
  }
}

/** @throws InvalidFieldsError for a negative amount, two limits of one currency, or a fraction of its smallest unit. */
function limitsOf(given: NonNullable<GatewayAccount['dailyLimits']>): DailyLimit[] {
  const limits = given.map(({ currency, count = null, amount = null }) => ({
    currency,
    count,
    amount: amount === null ? null : amountOf(amount),
  }))
  const invalid = limits.flatMap(({ currency, amount }, index): InvalidField[] => {
    const problem = amount === null ? null : limitProblem(amount, currency)
    const isRepeated = limits.findIndex((one) => one.currency === currency) !== index
    return [
      ...(isRepeated
        ? [
            {
              field: `dailyLimits.${index}.currency`,
              code: 'not-unique' as const,
              message: 'must not be repeated',
            },
          ]
        : []),
      ...(problem === null ? [] : [{ field: `dailyLimits.${index}.amount`, ...problem }]),
    ]
  })
  if (invalid.length > 0) throw new InvalidFieldsError(invalid)
  return limits
}

function limitProblem(amount: string, currency: string): FieldProblem | null {
  if (new Money(amount).isNegative()) return { code: 'out-of-range', message: 'must not be negative' }
  return amountProblem(amount, currency)
}

/** The timeline names what has changed, without its values. */
function changeSettings(
  unit: UnitOfWork,
  row: GatewayAccountRow,
  settings: Partial<ReturnType<typeof settingsOf>>,
): void {
  const names = Object.entries(settings).flatMap(([name, value]) =>
    canonicalJson({ value: row[name as keyof typeof settings] ?? null }) === canonicalJson({ value })
      ? []
      : [name],
  )
  Object.assign(row, settings)
  if (names.length === 0) return
  const said = `${names.join(', ')} changed`
  unit.addTimelineEntry(gatewayAccountEntry(row.id, 'gateway-account-modified', said, unit.now))
}

async function changeCredentials(
  unit: UnitOfWork,
  row: GatewayAccountRow,
  given: NonNullable<GatewayAccountPatch['credentials']>,
  { keys }: OperationContext,
): Promise<void> {
  const before = row.credentialsCipher ?? null
  row.credentialsCipher = await sealedCredentials(keys.vault, given, before)
  if (row.credentialsCipher === before) return
  const type = 'gateway-account-credentials-changed'
  unit.addTimelineEntry(gatewayAccountEntry(row.id, type, 'credentials changed', unit.now))
}

async function cipherOf(
  { credentials }: Pick<GatewayAccount, 'credentials'>,
  { keys }: OperationContext,
): Promise<string | null> {
  return credentials === undefined ? null : await sealedCredentials(keys.vault, credentials)
}
