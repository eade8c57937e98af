import type { MikroORM } from '@mikro-orm/postgresql'
import { statement } from './statement.ts'

/** Whether the database answers within two seconds. */
export async function isReady(orm: MikroORM): Promise<boolean> {
  const answered = statement(orm.em, 'answer', 'select 1').then(
    () => true,
    () => false,
  )
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), 2_000)
  })
  return await Promise.race([answered, late]).finally(() => clearTimeout(timer))
}
