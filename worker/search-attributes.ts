import type { Connection } from '@temporalio/client'
import proto from '@temporalio/proto'
import { SEARCH_ATTRIBUTES } from '../workflows/contract.ts'

const { IndexedValueType } = proto.temporal.api.enums.v1

export async function registerSearchAttributes(
  { operatorService }: Pick<Connection, 'operatorService'>,
  namespace: string,
): Promise<void> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace })
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in (customAttributes ?? {})))
  if (missing.length === 0) return
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(
      missing.map(([name, type]) => [
        name,
        type === 'DATETIME'
          ? IndexedValueType.INDEXED_VALUE_TYPE_DATETIME
          : IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
      ]),
    ),
  })
}

export interface SearchAttributes {
  /** Whether executions may have them. */
  areAccepted(): Promise<boolean>
  /** The latest answer, while another is awaited; false before the first. */
  wereAccepted(): boolean
  /** Asks again at next use: the namespace may be another one by now. */
  forget(): void
}

/** Keeps a favorable answer until it is to be forgotten, another for some seconds. */
export function rememberedAttributes(register: () => Promise<boolean>): SearchAttributes {
  let asked: Promise<boolean> | null = null
  let latest = false
  const areAccepted = (): Promise<boolean> => {
    asked ??= register().then((isAccepted) => {
      latest = isAccepted
      if (!isAccepted) setTimeout(forget, ASKED_AGAIN).unref()
      return isAccepted
    })
    return asked
  }
  const forget = (): void => {
    asked = null
  }
  return {
    areAccepted,
    wereAccepted() {
      void areAccepted()
      return latest
    },
    forget,
  }
}

/** Milliseconds. */
const ASKED_AGAIN = 5_000
