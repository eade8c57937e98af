/** What webhooks send and GET events embeds. */

export interface EventContent {
  readonly type: string
  /** The record's own clock. */
  readonly time: Date
  /** The first one tells what the event is about. */
  readonly ids: Readonly<Record<string, string | null>>
  /** As they stand now; a function is called at the end of the transaction, for what is only known then. */
  readonly embedded: Readonly<Record<string, object | null | (() => object)>>
  readonly links: readonly { readonly rel: string; readonly href: string }[]
  /** Members besides, such as `cause`. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** Returns the text that is stored, signed and sent. */
export function eventPayload(
  eventId: string,
  { type, time, ids, embedded, links, extra }: EventContent,
): string {
  return JSON.stringify({
    ...ids,
    eventType: type,
    eventId,
    eventTime: time.toISOString(),
    ...extra,
    _embedded: Object.fromEntries(
      Object.entries(embedded).map(([name, record]) => [
        name,
        typeof record === 'function' ? record() : record,
      ]),
    ),
    _links: links,
  })
}
