/** Numbers of credit memos: 1, 2, 3 … in each organization. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { CreditMemo } from './entities/index.ts'
import { statement } from './statement.ts'

/**
 * Gives new credit memos of an organization their numbers. The organization's counter stays locked until the transaction
 * ends: a rollback returns its numbers.
 */
export async function numberCreditMemos(
  em: EntityManager,
  organizationId: string,
  memos: readonly CreditMemo[],
): Promise<void> {
  if (memos.length === 0) return
  const [given] = await statement<{ last_number: number }>(
    em,
    'number-credit-memos',
    `insert into credit_memo_counters (organization_id, last_number) values (?, ?::int)
     on conflict (organization_id) do update
       set last_number = credit_memo_counters.last_number + excluded.last_number
     returning last_number`,
    [organizationId, memos.length],
  )
  if (given === undefined) throw new Error('a counter returns its number')
  for (const [index, memo] of memos.entries()) memo.number = given.last_number - memos.length + index + 1
}
