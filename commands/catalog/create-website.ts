import { Website } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'

export interface NewWebsite {
  readonly name: string
  readonly url: string | null
  readonly servicePhone: string | null
  readonly serviceEmail: string | null
  readonly customFields: Record<string, unknown> | null
}

export function createWebsite(unit: UnitOfWork, id: string, given: NewWebsite): Website {
  return unit.create(Website, {
    id,
    ...given,
  })
}
