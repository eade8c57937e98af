import { Organization } from '../../db/entities/index.ts'
import type { UnitOfWork } from '../../db/unit-of-work.ts'
import { createApiKey, type KeyStore } from './create-api-key.ts'

export interface NewOrganization {
  readonly name: string
  readonly secretKey?: string
}

export interface OrganizationKeys {
  readonly organizationId: string
  readonly secretKey: string
  readonly publishableKey: string
}

export async function createOrganization(
  unit: UnitOfWork,
  store: KeyStore,
  { name, secretKey }: NewOrganization,
): Promise<OrganizationKeys> {
  unit.em.persist(
    unit.em.create(Organization, {
      id: unit.organizationId,
      name,
      phoneNumbers: [],
      emails: [],
      settings: {},
      revision: 1,
      createdTime: unit.now,
      updatedTime: unit.now,
    }),
  )
  const secret = await createApiKey(unit, store, {
    type: 'secret',
    description: 'First secret key',
    ...(secretKey === undefined ? {} : { value: secretKey }),
  })
  const publishable = await createApiKey(unit, store, {
    type: 'publishable',
    description: 'First publishable key',
  })
  return { organizationId: unit.organizationId, secretKey: secret.value, publishableKey: publishable.value }
}
