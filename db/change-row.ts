import { DecimalType, type EntityClass } from '@mikro-orm/core'
import { canonicalJson } from '../billing/canonical-json.ts'
import { plainAmount } from '../billing/money.ts'
import type { UnitOfWork } from './unit-of-work.ts'

interface RevisedRow {
  revision: number
  updatedTime: Date
}

/** Raises the revision of a row that is changed now. */
export function raiseRevision(row: RevisedRow, unit: Pick<UnitOfWork, 'now'>): void {
  row.revision += 1
  row.updatedTime = changeTime(row, unit)
}

/** Returns the unit's time, or that of the last change if a transaction that began later has changed the row before. */
export function changeTime(
  { updatedTime }: Pick<RevisedRow, 'updatedTime'>,
  { now }: Pick<UnitOfWork, 'now'>,
): Date {
  return updatedTime < now ? now : updatedTime
}

/** Raises the revision at the first change in a commit: one commit is one revision. */
export function raiseRevisionOnce(
  row: RevisedRow,
  unit: Pick<UnitOfWork, 'now'>,
  { changedRows }: { readonly changedRows: Set<object> },
): void {
  if (changedRows.has(row)) return
  changedRows.add(row)
  raiseRevision(row, unit)
}

/** Raises the revision if the change really changed the row. */
export async function changeRow(
  unit: UnitOfWork,
  row: RevisedRow,
  change: () => void | Promise<void>,
): Promise<boolean> {
  const before = snapshot(unit, row)
  const { revision } = row
  await change()
  if (snapshot(unit, row) === before) return false
  // A command that advances the record raises the revision itself; one commit is one revision.
  if (row.revision === revision) row.revision += 1
  row.updatedTime = changeTime(row, unit)
  return true
}

function snapshot({ em }: UnitOfWork, row: object): string {
  const { properties } = em.getMetadata().get(row.constructor as EntityClass<Record<string, unknown>>)
  const { revision: _, updatedTime: __, ...rest } = row as Record<string, unknown>
  const members = Object.entries(rest).map(([name, value]) => {
    // PostgreSQL pads decimals to their scale: 12.500000 equals the 12.5 of a body.
    const isDecimal = properties[name]?.customType instanceof DecimalType && value != null
    return [name, isDecimal ? plainAmount(String(value)) : (value ?? null)]
  })
  return canonicalJson(Object.fromEntries(members))
}
