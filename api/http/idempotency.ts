/**
 * `Idempotency-Key` on POST: the first answer is kept for a day and given again.
 *
 * A success is written in the transaction of the change it answers for. "Still running" is judged by a lock of that
 * transaction, so it dies with the process that held it.
 */
import type { EntityManager } from '@mikro-orm/postgresql'
import { canonicalJson } from '../../billing/canonical-json.ts'
import { tryLockText } from '../../db/advisory-locks.ts'
import { IdempotencyRecord } from '../../db/entities/index.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import type { Vault } from '../../db/vault.ts'
import type { OperationResponse } from '../operation.ts'
import { Problem } from './problems.ts'

const KEPT_FOR = 24 * 3_600_000
/** Refusals that belong to the request and not to the moment. */
const KEPT_STATUSES = [409, 422]

/** An answer, or a refusal that is thrown again. */
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

/**
 * Digest of what makes two requests the same: the path and the content, whatever the order of members. `hash` is keyed: a
 * body may hold a card number, which a plain digest would give away to whoever tries them all.
 */
export function requestHash(hash: (text: string) => string, path: string, content: unknown): string {
  return hash(`request:${path}\n${canonicalJson(content)}`)
}

/**
 * The kept answer of the key, or null where there is none.
 *
 * @throws Problem `idempotency-key-reused` when it belongs to another request.
 */
export async function findStoredResponse(
  em: EntityManager,
  vault: Vault,
  request: IdempotentRequest,
): Promise<StoredResponse | null> {
  const { organizationId, operation, key } = request
  const createdTime = { $gt: new Date(Date.now() - KEPT_FOR) }
  const record = await em.findOne(
    IdempotencyRecord,
    { organizationId, operation, key, createdTime },
    { disableIdentityMap: true },
  )
  if (record === null) return null
  if (record.requestHash !== request.requestHash) {
    throw new Problem(
      'idempotency-key-reused',
      'The Idempotency-Key was already used for a request with a different body.',
    )
  }
  return JSON.parse(await vault.open(record.responseCipher)) as StoredResponse
}

/**
 * Claims the key for the unit's transaction.
 *
 * @returns the kept answer when another request was faster.
 * @throws Problem `conflict` while the first request is still running.
 */
export async function claimKey(
  unit: UnitOfWork,
  vault: Vault,
  request: IdempotentRequest,
): Promise<StoredResponse | null> {
  const name = `${request.organizationId}\n${request.operation}\n${request.key}`
  if (!(await tryLockText(unit.em, name))) {
    throw new StillRunning('conflict', 'A request with this Idempotency-Key is still in progress.')
  }
  return await findStoredResponse(unit.em, vault, request)
}

/** Keeps an answer in the unit's transaction; one that was kept more than a day ago gives way. */
export async function storeResponse(
  em: EntityManager,
  vault: Vault,
  request: IdempotentRequest,
  stored: StoredResponse,
): Promise<void> {
  await statement(
    em,
    'keep-answer',
    `insert into idempotency_records (organization_id, operation, key, request_hash, response_cipher, created_time)
     values (?, ?, ?, ?, ?, now())
     on conflict (organization_id, operation, key) do update
        set request_hash = excluded.request_hash, response_cipher = excluded.response_cipher, created_time = excluded.created_time
      where idempotency_records.created_time <= now() - interval '24 hours'`,
    [
      request.organizationId,
      request.operation,
      request.key,
      request.requestHash,
      await vault.seal(JSON.stringify(stored)),
    ],
  )
}

/** The refusal as it is kept; null for one that may come out otherwise the next time. */
export function storableRefusal(problem: Problem): StoredResponse | null {
  if (
    !KEPT_STATUSES.includes(problem.status) ||
    problem instanceof StillRunning ||
    problem.code === 'idempotency-key-reused'
  ) {
    return null
  }
  return {
    status: problem.status,
    problem: { code: problem.code, detail: problem.message, extras: problem.extras },
  }
}

/** Gives a kept answer again: returns it, or throws it where it was a refusal. */
export function replay({ response, problem }: StoredResponse): OperationResponse {
  if (problem !== undefined) throw new Problem(problem.code, problem.detail, problem.extras)
  return response ?? {}
}

class StillRunning extends Problem {}
