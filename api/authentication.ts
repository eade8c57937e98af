/** Who is calling: API keys, found by a keyed hash, judged afresh on every request in every process. */
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Context } from 'koa'
import type { ApiKeyType } from '../db/entities/api-key.ts'
import type { InstallationFacts } from '../db/installation.ts'
import { Problem } from './problems.ts'
import type { KeyForm } from './routes.ts'

/** Header of a secret key. */
export const KEY_HEADER = 'SVC-APIKEY'

export interface Credential {
  readonly form: KeyForm
  readonly organizationId: string
  /** Id of the API key. */
  readonly id: string
}

/**
 * The credential a request presents.
 *
 * @throws Problem `unauthorized` when there is none, it is unknown, or there are two.
 */
export async function authenticate(
  ctx: Context,
  em: EntityManager,
  installation: InstallationFacts,
): Promise<Credential> {
  const key = ctx.get(KEY_HEADER)
  const authorization = ctx.get('Authorization')
  if (key !== '' && authorization !== '') {
    throw new Problem('unauthorized', `Send one credential: ${KEY_HEADER} or Authorization, not both.`)
  }
  if (key === '') throw new Problem('unauthorized', `Send a secret key in the ${KEY_HEADER} header.`)
  const [row] = await em
    .getConnection()
    .execute<{ organization_id: string; id: string; type: ApiKeyType }[]>(
      'select organization_id, id, type from api_keys where key_hash = ?',
      [installation.hashKey(key)],
    )
  if (row === undefined) throw new Problem('unauthorized', 'The key is not known in this environment.')
  return { form: row.type, organizationId: row.organization_id, id: row.id }
}

/**
 * Whether the credential may do this at all.
 *
 * @throws Problem `forbidden` for another organization, existing or not, and for a form the operation does not accept.
 */
export function authorize(credential: Credential, organizationId: string, accepts: readonly KeyForm[]): void {
  if (credential.organizationId !== organizationId) {
    throw new Problem('forbidden', 'The credential belongs to another organization.')
  }
  if (!accepts.includes(credential.form)) {
    throw new Problem('forbidden', `This operation does not accept a ${credential.form} key.`)
  }
}
