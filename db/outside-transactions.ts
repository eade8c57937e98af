import { TransactionContext } from '@mikro-orm/core'

/** The methods refuse to run in a transaction: what they wait for must not hold rows or a connection. */
export function outsideTransactions<T extends object>(target: T, methods: readonly (keyof T & string)[]): T {
  return new Proxy(target, {
    get(object, name, receiver) {
      const member: unknown = Reflect.get(object, name, receiver)
      if (typeof member !== 'function' || !(methods as readonly (string | symbol)[]).includes(name))
        return member
      return async (...given: unknown[]) => {
        requireNoTransaction(`${String(name)} was called within a transaction`)
        return await Reflect.apply(member, object, given)
      }
    },
  })
}

/** Throws an error of that message in a transaction. */
export function requireNoTransaction(message: string): void {
  if (TransactionContext.getEntityManager()?.isInTransaction()) throw new Error(message)
}
