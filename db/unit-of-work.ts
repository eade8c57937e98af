/** A command's transaction: its changes, events, deliveries and wake-ups commit together or not at all. */
import type { EntityClass, RequiredEntityData } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { WorkflowName } from '../workflows/contract.ts'
import { numberCreditMemos } from './credit-memo-numbers.ts'
import { CreditMemo, type Invoice } from './entities/index.ts'
import type { NewRow } from './insert-row.ts'
import { numberInvoices } from './invoice-numbers.ts'
import { nudge } from './nudge.ts'
import {
  type Attributes,
  type Consequences,
  type Deadline,
  type NewEvent,
  type NewTimelineEntry,
  type WakeUp,
  writeConsequences,
} from './outbox.ts'

export interface UnitOfWork {
  readonly em: EntityManager
  readonly organizationId: string
  /** Real time at which the transaction began. */
  readonly now: Date
  readonly baseUrl: string
  /** Creates a record at revision 1, which the ORM writes with the transaction. */
  create<Row extends ResourceColumns>(entity: EntityClass<Row>, values: NewValues<Row>): Row
  /** As `create`, but written with the consequences: the unit cannot read it before, nor does the ORM track it. */
  insert<Row extends ResourceColumns>(entity: EntityClass<Row>, values: NewValues<Row>): Row
  /** Gives an invoice its number, and what its document says of both parties, when the transaction ends. */
  issue(invoice: Invoice): void
  /** Creates a credit memo, which gets its number and is written when the transaction ends. */
  createMemo(values: Omit<NewValues<CreditMemo>, 'number'>): CreditMemo
  /**
   * Gives the invoices and memos of the unit their numbers now instead of at its end. The organization's other commands
   * that number some wait from here on until the commit, so call it last.
   */
  numberIssued(): Promise<void>
  /**
   * Writes all that the unit has, numbers included, and returns an entity manager that reads it from the database, in the
   * same transaction. The unit takes nothing more, so call it last.
   */
  written(): Promise<EntityManager>
  /** With a delivery for every matching webhook. */
  emit(event: NewEvent): void
  addTimelineEntry(entry: NewTimelineEntry): void
  /** After the commit. The execution sleeps until the record's deadline. */
  startWorkflow(
    workflow: WorkflowName,
    recordId: string,
    deadline: Deadline & { readonly attributes: Attributes },
  ): void
  /** After the commit. The wake-up with the nearest deadline is relayed first. */
  wake(workflow: WorkflowName, recordId: string, deadline: Deadline): void
  nudge(channel: string): void
}

interface ResourceColumns {
  organizationId: string
  revision: number
  createdTime: Date
  updatedTime: Date
}

type NewValues<Row> = Omit<RequiredEntityData<Row>, keyof ResourceColumns>

export interface UnitOfWorkOptions {
  readonly organizationId: string
  readonly now: Date
  readonly baseUrl: string
}

/**
 * Runs `work` in one transaction, and commits its changes with the numbers of what it issued, its events with their
 * deliveries, timeline entries and wake-ups. The loops that carry these on are nudged after the commit. If `work`
 * throws, nothing is written, and the error is passed on.
 */
export async function inUnitOfWork<T>(
  em: EntityManager,
  options: UnitOfWorkOptions,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const { result, channels } = await em.transactional(async (trx) => {
    const { unit, write, channels } = collecting(trx, options)
    const result = await work(unit)
    await write({ commits: true })
    return { result, channels: [...channels] }
  })
  nudge(em, channels)
  return result
}

/** Runs `work` in a transaction that is undone at its end: nothing is written, emitted or woken. */
export async function inDryRun<T>(
  em: EntityManager,
  options: UnitOfWorkOptions,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  const trx = em.fork()
  await trx.begin()
  try {
    return await work(collecting(trx, options).unit)
  } finally {
    await trx.rollback()
  }
}

function collecting(
  em: EntityManager,
  options: UnitOfWorkOptions,
): {
  readonly unit: UnitOfWork
  readonly write: (options: { readonly commits: boolean }) => Promise<void>
  readonly channels: ReadonlySet<string>
} {
  const rows: NewRow[] = []
  const events: NewEvent[] = []
  const timeline: NewTimelineEntry[] = []
  const channels = new Set<string>()
  const issued = new Set<Invoice>()
  const memos: CreditMemo[] = []
  const { organizationId, now } = options
  const stamps: ResourceColumns = { organizationId, revision: 1, createdTime: now, updatedTime: now }
  const wakeUps = new Map<string, WakeUp>()
  const add = (wakeUp: WakeUp): void => {
    const key = `${wakeUp.workflow}/${wakeUp.recordId}`
    const earlier = wakeUps.get(key)
    // The last wake-up knows the deadline; the record of an earlier start is still new.
    wakeUps.set(
      key,
      earlier?.starts
        ? { ...wakeUp, starts: true, attributes: wakeUp.attributes ?? earlier.attributes }
        : wakeUp,
    )
  }
  let isWritten = false
  const write = async ({ commits }: { readonly commits: boolean }): Promise<void> => {
    await unit.numberIssued()
    await em.flush()
    const consequences: Consequences = {
      rows: rows.splice(0),
      events: events.splice(0),
      timeline: timeline.splice(0),
      wakeUps: [...wakeUps.values()],
    }
    wakeUps.clear()
    if (isWritten && Object.values(consequences).some(({ length }) => length > 0))
      throw new Error('a unit of work took more after it was written')
    isWritten = true
    for (const channel of await writeConsequences(em, options, consequences, commits)) channels.add(channel)
  }
  const unit: UnitOfWork = {
    ...options,
    em,
    create<Row extends ResourceColumns>(entity: EntityClass<Row>, values: NewValues<Row>): Row {
      const row = em.create(entity, { ...values, ...stamps } as RequiredEntityData<Row>)
      em.persist(row)
      return row
    },
    insert<Row extends ResourceColumns>(entity: EntityClass<Row>, values: NewValues<Row>): Row {
      const row = { ...values, ...stamps } as Row
      rows.push({ entity, row })
      return row
    },
    issue: (invoice) => void issued.add(invoice),
    createMemo(values) {
      const memo = em.create(CreditMemo, { ...values, number: 0, ...stamps }, { persist: false })
      memos.push(memo)
      return memo
    },
    async numberIssued() {
      const invoices = [...issued]
      issued.clear()
      await numberInvoices(em, organizationId, invoices)
      const created = memos.splice(0)
      await numberCreditMemos(em, organizationId, created)
      em.persist(created)
    },
    async written() {
      await write({ commits: false })
      return em.fork({ keepTransactionContext: true })
    },
    emit: (event) => void events.push(event),
    addTimelineEntry: (entry) => void timeline.push(entry),
    startWorkflow: (workflow, recordId, deadline) => add({ workflow, recordId, starts: true, ...deadline }),
    wake: (workflow, recordId, deadline) =>
      add({ workflow, recordId, starts: false, ...deadline, attributes: null }),
    nudge: (channel) => void channels.add(channel),
  }
  return { unit, write, channels }
}
