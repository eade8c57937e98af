/** Checks that what a body refers to exists in the organization, collecting every failure before refusing. */
import type { EntityClass } from '@mikro-orm/core'
import { type InvalidField, InvalidFieldsError } from '../billing/errors.ts'
import type { UnitOfWork } from './unit-of-work.ts'

interface TenantRow {
  organizationId: string
  id: string
}

export interface References {
  /** The row of that id in this organization; remembers a failure of `field` and gives null when there is none. */
  required<T extends TenantRow>(entity: EntityClass<T>, field: string, id: string): Promise<T | null>
  /** As `required`, but null refers to nothing and is fine. */
  optional<T extends TenantRow>(entity: EntityClass<T>, field: string, id: string | null): Promise<T | null>
  /** Remembers that there is no row of that id. */
  missing<T extends TenantRow>(entity: EntityClass<T>, field: string, id: string): void
  /** Remembers a failure found otherwise. */
  fail(field: string, message: string): void
  /** @throws InvalidFieldsError when anything failed. */
  check(): void
}

export function references({ em, organizationId }: Pick<UnitOfWork, 'em' | 'organizationId'>): References {
  const failures: InvalidField[] = []
  const missing = (entity: { readonly name: string }, field: string, id: string): void => {
    const kind = entity.name.replaceAll(/(?<=.)(?=[A-Z])/g, ' ').toLowerCase()
    failures.push({ field, message: `no ${kind} has the id ${id}` })
  }
  const required = async <T extends TenantRow>(
    entity: EntityClass<T>,
    field: string,
    id: string,
  ): Promise<T | null> => {
    const row = (await em.findOne(entity as EntityClass<TenantRow>, { organizationId, id })) as T | null
    if (row === null) missing(entity, field, id)
    return row
  }
  return {
    required,
    missing,
    optional: async (entity, field, id) => (id === null ? null : await required(entity, field, id)),
    fail: (field, message) => void failures.push({ field, message }),
    check() {
      if (failures.length > 0) throw new InvalidFieldsError(failures)
    },
  }
}
