/**
 * An attempt counts as failed from its beginning, so that attempts at once are limited as those in sequence
 * are. No transaction is open while the password is compared. An unknown username takes as long as a wrong
 * password.
 */
import { LockMode } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { PasswordHasher } from '../../access/password-hash.ts'
import { blockedUntil, FAILURE_WINDOW, failureSubject, MOST_FAILURES } from '../../access/sign-in-limit.ts'
import { usernameDigest } from '../../access/usernames.ts'
import { lockText } from '../../db/advisory-locks.ts'
import { CustomerCredential, SignInFailure } from '../../db/entities/index.ts'
import { newId } from '../../db/new-id.ts'
import { statement } from '../../db/statement.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

export interface SignInAttempt {
  readonly username: string
  readonly password: string
  readonly address: string
}

export interface CheckedCredential {
  readonly id: string
  readonly passwordHash: string
}

export type SignIn =
  | { readonly outcome: 'accepted'; readonly credential: CheckedCredential }
  | { readonly outcome: 'rejected' }
  | { readonly outcome: 'blocked'; readonly until: Date }

/** Compares username and password, unless they failed too often from that address (decisions 3). */
export async function checkSignIn(
  em: EntityManager,
  organizationId: string,
  hasher: PasswordHasher,
  { username, password, address }: SignInAttempt,
  now: Date,
): Promise<SignIn> {
  const attempt = await beginAttempt(em, organizationId, failureSubject(username, address))
  if (attempt.until !== null) return { outcome: 'blocked', until: attempt.until }
  const [found] = await statement<{ id: string; password_hash: string; is_expired: boolean }>(
    em,
    'find-credential',
    `select id, password_hash, coalesce(expired_time <= ?, false) as is_expired
       from customer_credentials where organization_id = ? and username_digest = ?`,
    [now, organizationId, usernameDigest(username)],
  )
  const forget = () => em.nativeDelete(SignInFailure, { organizationId, id: attempt.id })
  let isRight: boolean
  try {
    isRight = await hasher.verify(password, found?.password_hash ?? null)
  } catch (error) {
    // It was not compared.
    await forget()
    throw error
  }
  if (found === undefined || !isRight || found.is_expired) return { outcome: 'rejected' }
  await forget()
  return { outcome: 'accepted', credential: { id: found.id, passwordHash: found.password_hash } }
}

/** Returns the locked credential; null if it has been deleted, has expired, or has another password by now. */
export async function lockChecked(
  { em, organizationId, now }: UnitOfWork,
  { id, passwordHash }: CheckedCredential,
): Promise<CustomerCredential | null> {
  const row = await em.findOne(
    CustomerCredential,
    { organizationId, id, passwordHash },
    { lockMode: LockMode.PESSIMISTIC_READ, refresh: true },
  )
  return row === null || (row.expiredTime != null && row.expiredTime <= now) ? null : row
}

async function beginAttempt(
  em: EntityManager,
  organizationId: string,
  subject: string,
): Promise<{ readonly id: string; readonly until: Date | null }> {
  return await em.fork().transactional(async (trx) => {
    await lockText(trx, `sign-in\n${organizationId}\n${subject}`)
    const failures = await statement<{ failed_time: string }>(
      trx,
      'read-sign-in-failures',
      `select failed_time from sign_in_failures
        where organization_id = ? and subject = ? and failed_time > clock_timestamp() - make_interval(secs => ?::int)
        order by failed_time desc limit ?`,
      [organizationId, subject, FAILURE_WINDOW / 1_000, MOST_FAILURES],
    )
    const id = newId('fail')
    const until = blockedUntil(failures.map(({ failed_time: time }) => new Date(time)))
    if (until === null) {
      await statement(
        trx,
        'add-sign-in-failure',
        'insert into sign_in_failures (organization_id, id, subject, failed_time) values (?, ?, ?, clock_timestamp())',
        [organizationId, id, subject],
      )
    }
    return { id, until }
  })
}
