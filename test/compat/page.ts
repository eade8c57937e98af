import { writtenMembers } from './bodies.ts'
import type { Call } from './call.ts'
import { DIFFERENCES } from './differences.ts'
import { bodyShape, OPERATIONS, responseShapes } from './facts.ts'
import { GROUPS, type Operation } from './operations.ts'
import { PENDING_OPERATIONS } from './pending.ts'
import type { ShapeName } from './shapes.ts'
import { SUITES } from './suites.ts'

const CALLS: readonly Call[] = SUITES.flatMap(({ calls }) => calls)

export function compatibilityPage(): string {
  const operations = Object.keys(OPERATIONS) as Operation[]
  const here = operations.filter((operation) => !PENDING_OPERATIONS.has(operation))
  return `<!-- Generated from test/compat/ by \`npm run docs:compatibility\`. -->
# Compatibility

Client libraries of this API family call ${operations.length} operations; this release has ${here.length} of them. \`test/compat/\` calls each one as such
libraries do: with every member, with nulls, and with what was read. This page lists what works, and what does not work yet.

A member that is not supported yet is accepted while it says that the feature is not used: null, false, 0, "", [] or {}. Other values are
422. An optional member without a value is null in responses.

## Operations

Paths are below \`/organizations/{organizationId}/\`.
${Object.entries(GROUPS).map(groupSection).join('')}
## Members

How bodies and responses differ from what clients know. A member of an item is named without the item's number.

| Shape | Member | In this release | Note |
|---|---|---|---|
${(Object.keys(DIFFERENCES) as ShapeName[]).toSorted().flatMap(memberRows).join('\n')}
`
}

function groupSection([group, operations]: [string, object]): string {
  const rows = Object.keys(operations).map(
    (operation) => `| \`${operation}\` | ${resultOf(operation as Operation)} |`,
  )
  return `
### ${group}

| Operation | In this release |
|---|---|
${rows.join('\n')}
`
}

function resultOf(operation: Operation): string {
  const reason = PENDING_OPERATIONS.get(operation)
  if (reason !== undefined) return `not in this release (${reason})`
  const calls = CALLS.filter((call) => call.operation === operation)
  const members = [...new Set(calls.flatMap(membersThatAreRefused))]
  const notYet = calls.flatMap((call) => call.notYet ?? [])
  const lacking = [...new Set(calls.flatMap(responseShapes))].filter((shape) => {
    const { notReturned = {}, otherwise = {} } = DIFFERENCES[shape] ?? {}
    return Object.keys({ ...notReturned, ...otherwise }).length > 0
  })
  return [
    `works${members.length === 0 ? '' : ` without members ${list(members)}`}`,
    ...(calls.some(({ fromRoot }) => fromRoot === true) ? [`at \`/${operation.split(' ')[1]}\``] : []),
    ...(notYet.length === 0 ? [] : [`not yet: ${[...new Set(notYet)].join(', ')}`]),
    ...(calls.every(({ ownShape }) => ownShape === true) ? ["the response is the service's own"] : []),
    ...(lacking.length === 0 ? [] : [`for the response see [${lacking.join(', ')}](#members)`]),
  ].join('; ')
}

function membersThatAreRefused(call: Call): string[] {
  const shape = bodyShape(call)
  if (call.body !== 'full' || call.notYet !== undefined || shape === undefined) return []
  const sent = writtenMembers(call)
  return Object.keys(DIFFERENCES[shape]?.notSupported ?? {}).filter((path) => sent.includes(path))
}

function memberRows(name: ShapeName): string[] {
  const { notSupported = {}, notReturned = {}, otherwise = {} } = DIFFERENCES[name] ?? {}
  const rows = (members: Readonly<Record<string, string>>, state: string) =>
    Object.entries(members).map(([path, why]) => `| ${name} | \`${path}\` | ${state} | ${why} |`)
  return [
    ...rows(notSupported, 'not supported yet'),
    ...rows(notReturned, 'not in responses'),
    ...rows(otherwise, 'another value'),
  ]
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}
