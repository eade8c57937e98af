/**
 * `Idempotency-Key` on POST. The response is stored in the transaction of its change, and replayed for a day.
 * A lock of that transaction marks the request as in progress, so the mark ends with the process. What is sent outside of
 * a transaction is marked by a lease instead, since a lock would hold a connection for as long.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Context } from 'koa'
import { canonicalJson } from '../../billing/canonical-json.ts'
import { tryLockText } from '../../db/advisory-locks.ts'
import { IdempotencyRecord } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'
import type { OperationResponse } from '../operation.ts'
import { Problem } from './problems.ts'
import { headerOf } from './request-headers.ts'

/** Milliseconds. worker/retention.ts keeps a stored response for longer. */
const STORED_FOR = 24 * 3_600_000
/** How long a mark of `leaseKey` lasts after a crash. Milliseconds. */
const LEASE = 120_000
/** Milliseconds between two renewals of a mark. */
export const RENEWAL = LEASE / 4
const STORED_STATUSES = [409, 422]
/** Error responses of this many bytes or more are not stored. */
const LARGEST_REFUSAL = 16 * 1024

export interface StoredResponse {
  readonly status: number
  readonly response?: OperationResponse
  readonly problem?: {
    readonly code: Problem['code']
    readonly detail: string
    readonly extras: Problem['extras']
  }
}

export interface IdempotentRequest {
  readonly organizationId: string
  readonly operation: string
  readonly key: string
  readonly requestHash: string
}

/** The key is quoted, as in the draft of the header, or bare. */
const KEY = /^(?:"(?:[^"\\]|\\["\\])+"|[^"].*)$/
const PRINTABLE = /^[\x20-\x7e]{1,255}$/

/** Returns null if no key was sent. Throws `malformed-request` for an empty or malformed one. */
export function readIdempotencyKey(ctx: Context): string | null {
  const key = headerOf(ctx, 'Idempotency-Key')
  if (key === null) return null
  const isRepeated = (ctx.req.headersDistinct['idempotency-key']?.length ?? 0) > 1
  if (!isRepeated && PRINTABLE.test(key) && KEY.test(key)) return key
  throw new Problem('malformed-request', 'Send one Idempotency-Key, of 1 to 255 printable ASCII characters.')
}

/** `hash` must be keyed: from a plain digest, an attacker who tries all card numbers learns the right one. */
export function requestHash(hash: (text: string) => string, path: string, content: unknown): string {
  return hash(`request:${path}\n${canonicalJson(content)}`)
}

/** Returns null if none is stored. Throws `idempotency-key-reused` if the key belongs to another request. */
export async function findStoredResponse(
  em: EntityManager,
  vault: Vault,
  request: IdempotentRequest,
): Promise<StoredResponse | null> {
  const { organizationId, operation, key } = request
  const createdTime = { $gt: new Date(Date.now() - STORED_FOR) }
  const record = await em.findOne(
    IdempotencyRecord,
    { organizationId, operation, key, createdTime },
    { disableIdentityMap: true },
  )
  if (record === null) return null
  if (record.requestHash !== request.requestHash) {
    throw new Problem(
      'idempotency-key-reused',
      'The Idempotency-Key was already used for another request: one with another path, another body, or a credential whose permissions or allowed addresses differed.',
    )
  }
  return JSON.parse(await vault.open(record.responseCipher)) as StoredResponse
}

/**
 * Claims the key for the unit's transaction. Returns the stored response if another request was faster.
 * Throws `conflict` while the first request is in progress.
 */
export async function claimKey(
  unit: UnitOfWork,
  vault: Vault,
  request: IdempotentRequest,
): Promise<StoredResponse | null> {
  await requireLock(unit.em, request)
  return await findStoredResponse(unit.em, vault, request)
}

async function requireLock(
  em: EntityManager,
  { organizationId, operation, key }: IdempotentRequest,
): Promise<void> {
  if (!(await tryLockText(em, `${organizationId}\n${operation}\n${key}`))) throw stillRunning()
}

/**
 * Marks a request as in progress that does something once outside of a transaction. Returns what is stored for
 * another that has the key. A mark that a crash left ends by itself.
 */
export async function leaseKey(
  em: EntityManager,
  vault: Vault,
  request: IdempotentRequest,
): Promise<StoredResponse | null> {
  const { code, message: detail, extras } = stillRunning()
  const mark = { status: 409, problem: { code, detail, extras } }
  const isTaken = await insertRecord(em, vault, request, mark, STORED_FOR - LEASE)
  if (isTaken) return null
  const stored = await findStoredResponse(em, vault, request)
  if (stored === null) throw stillRunning()
  return stored
}

/** Lets a mark of `leaseKey` last longer. Only a mark is so old: a response in its place is left alone. */
export async function renewLease(
  em: EntityManager,
  { organizationId, operation, key }: IdempotentRequest,
): Promise<void> {
  await statement(
    em,
    'renew-lease',
    `update idempotency_records set created_time = now() - ? * interval '1 millisecond'
      where organization_id = ? and operation = ? and key = ? and created_time <= now() - ? * interval '1 millisecond'`,
    [STORED_FOR - LEASE, organizationId, operation, key, STORED_FOR - LEASE],
  )
}

/** Puts the response in place of the mark of `leaseKey`; null: the request can be repeated at once. */
export async function endLease(
  em: EntityManager,
  vault: Vault,
  request: IdempotentRequest,
  stored: StoredResponse | null,
): Promise<void> {
  const { organizationId, operation, key } = request
  await em.transactional(async (own) => {
    await own.nativeDelete(IdempotencyRecord, { organizationId, operation, key })
    if (stored !== null) await storeResponse(own, vault, request, stored)
  })
}

/** Stores a response in the unit's transaction. It replaces one that is older than a day. */
export async function storeResponse(
  em: EntityManager,
  vault: Vault,
  request: IdempotentRequest,
  stored: StoredResponse,
): Promise<void> {
  await insertRecord(em, vault, request, stored, 0)
}

/**
 * Stores what a request is refused with, in a transaction of its own. Returns what is stored instead if the same request
 * was faster. Throws `conflict` while another request with the key is in progress, and `idempotency-key-reused` if another
 * has the key by now.
 */
export async function storeRefusal(
  em: EntityManager,
  vault: Vault,
  request: IdempotentRequest,
  refusal: StoredResponse,
): Promise<StoredResponse | null> {
  return await em.transactional(async (own) => {
    await requireLock(own, request)
    const isStored = await insertRecord(own, vault, request, refusal, 0)
    return isStored ? null : await findStoredResponse(own, vault, request)
  })
}

/** Returns false if the key has a record of the last day. `age`: milliseconds of its day that are over. */
async function insertRecord(
  em: EntityManager,
  vault: Vault,
  request: IdempotentRequest,
  stored: StoredResponse,
  age: number,
): Promise<boolean> {
  const rows = await statement<object>(
    em,
    'store-response',
    `insert into idempotency_records (organization_id, operation, key, request_hash, response_cipher, created_time)
     values (?, ?, ?, ?, ?, now() - ? * interval '1 millisecond')
     on conflict (organization_id, operation, key) do update
        set request_hash = excluded.request_hash, response_cipher = excluded.response_cipher, created_time = excluded.created_time
      where idempotency_records.created_time <= now() - ? * interval '1 millisecond'
     returning 1`,
    [
      request.organizationId,
      request.operation,
      request.key,
      request.requestHash,
      await vault.seal(JSON.stringify(stored)),
      age,
      STORED_FOR,
    ],
  )
  return rows.length > 0
}

/** Returns null for a large problem, and if a repetition may have another outcome. */
export function storableRefusal(problem: Problem): StoredResponse | null {
  if (
    !STORED_STATUSES.includes(problem.status) ||
    problem instanceof StillRunning ||
    problem.code === 'idempotency-key-reused'
  ) {
    return null
  }
  const stored = {
    status: problem.status,
    problem: { code: problem.code, detail: problem.message, extras: problem.extras },
  }
  return Buffer.byteLength(JSON.stringify(stored)) < LARGEST_REFUSAL ? stored : null
}

/** Returns a stored response, or throws it if it was an error. Its headers mark the replay. */
export function replay({ response, problem }: StoredResponse): OperationResponse {
  if (problem !== undefined) {
    const { extras } = problem
    throw new Problem(problem.code, problem.detail, {
      ...extras,
      headers: { ...extras.headers, ...REPLAYED },
    })
  }
  return { ...response, headers: { ...response?.headers, ...REPLAYED } }
}

const REPLAYED = { 'Idempotency-Replayed': 'true' }

class StillRunning extends Problem {}

export function stillRunning(): Problem {
  return new StillRunning('conflict', 'A request with this Idempotency-Key is still in progress.')
}
