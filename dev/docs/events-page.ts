import { EMITTED_EVENTS, EVENT_TYPES } from '../../billing/event-types.ts'

export function eventsPage(): string {
  const emitted = new Set(EMITTED_EVENTS.map(({ type }) => type))
  const reserved = EVENT_TYPES.filter((type) => !emitted.has(type))
  return `<!-- Generated from billing/event-types.ts by \`npm run docs:events\`. -->
# Events

The service emits ${emitted.size} event types. Every payload has the ids below, \`eventType\`, \`eventId\`, \`eventTime\`, the records as they
stood then in \`_embedded\`, and \`_links\`. [webhooks.md](webhooks.md) explains how to receive them.

| Event type | Emitted when | Ids |
|---|---|---|
${EMITTED_EVENTS.map(({ type, when, ids }) => `| \`${type}\` | ${when} | ${ids.map((id) => `\`${id}\``).join(', ')} |`).join('\n')}

## Reserved names

A webhook's \`eventsFilter\` accepts these names too, and any other name of this form, so that filters written for other releases work
today. The service does not emit them:

${reserved.map((type) => `\`${type}\``).join(', ')}.
`
}
