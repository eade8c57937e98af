/** Read with a parser rather than by pattern. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from '@swc/core'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Reference {
  /** As written: a relative path, a package or a built-in module. */
  readonly specifier: string
  /** `type`: gone before the program runs. `file`: named by `new URL(…, import.meta.url)`, not imported. */
  readonly kind: 'import' | 'type' | 'file'
}

export interface SourceFile {
  /** From the root, with forward slashes. */
  readonly path: string
  readonly references: readonly Reference[]
  readonly readsEnvironment: boolean
  readonly readsClock: boolean
}

const SOURCE = /\.(?:ts|mts|js|mjs)$/
const NOT_OURS = new Set(['node_modules', 'coverage'])

/** What lies in the root itself is configuration of tools. */
export function readSources(root: string = ROOT): SourceFile[] {
  const folders = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !NOT_OURS.has(entry.name),
  )
  return folders
    .flatMap(({ name }) =>
      readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map((path) =>
        posix.join(name, path.replaceAll('\\', '/')),
      ),
    )
    .filter((path) => SOURCE.test(path) && !path.startsWith('test/fixtures/'))
    .sort()
    .map((path) => inspect(path, readFileSync(join(root, path), 'utf8')))
}

export function inspect(path: string, text: string): SourceFile {
  const references: Reference[] = []
  let readsEnvironment = false
  let readsClock = false
  for (const node of nodesOf(parse(path, text))) {
    const reference = referenceOf(node)
    if (reference !== null) references.push(reference)
    readsEnvironment ||= isEnvironment(node)
    readsClock ||= isClock(node)
  }
  return { path, references, readsEnvironment, readsClock }
}

/** Returns null for packages and built-in modules. */
export function targetOf(path: string, { specifier }: Reference): string | null {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : null
}

/** Includes `mains`. */
export function reachableFrom(mains: readonly string[], sources: readonly SourceFile[]): Set<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const reached = new Set<string>()
  const waiting = [...mains]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue
    reached.add(path)
    for (const reference of byPath.get(path)?.references ?? []) {
      const target = reference.kind === 'type' ? null : targetOf(path, reference)
      if (target !== null) waiting.push(target)
    }
  }
  return reached
}

export type Node = Readonly<Record<string, unknown>>

export function parse(path: string, text: string): Node {
  const syntax = /\.m?ts$/.test(path) ? 'typescript' : 'ecmascript'
  return parseSync(text, { syntax, target: 'es2024' }) as unknown as Node
}

export function* nodesOf(value: unknown): Generator<Node> {
  if (Array.isArray(value)) {
    for (const item of value) yield* nodesOf(item)
  } else if (isNode(value)) {
    yield value
    for (const member of Object.values(value)) yield* nodesOf(member)
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function referenceOf(node: Node): Reference | null {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
    case 'ExportNamedDeclaration':
      return reference(node.source, node.typeOnly === true ? 'type' : 'import')
    case 'TsImportType':
      return reference(node.argument, 'type')
    case 'CallExpression':
      return isNode(node.callee) && node.callee.type === 'Import'
        ? reference(argument(node, 0), 'import')
        : null
    case 'NewExpression':
      return isIdentifier(node.callee, 'URL') && isOwnAddress(argument(node, 1))
        ? reference(argument(node, 0), 'file')
        : null
    default:
      return null
  }
}

function reference(source: unknown, kind: Reference['kind']): Reference | null {
  return isNode(source) && source.type === 'StringLiteral' ? { specifier: String(source.value), kind } : null
}

/** `process.env`, `process['env']`, `{ env } = process`, or `env` imported from the module of that name. */
function isEnvironment(node: Node): boolean {
  switch (node.type) {
    case 'MemberExpression':
      return isIdentifier(node.object, 'process') && isNamed(node.property, 'env')
    case 'VariableDeclarator':
      return isIdentifier(node.init, 'process') && mentions(node.id, 'env')
    case 'ImportDeclaration': {
      const from = reference(node.source, 'import')?.specifier
      return (from === 'node:process' || from === 'process') && mentions(node.specifiers, 'env')
    }
    default:
      return false
  }
}

/** `new Date()`, `Date()`, `Date.now()` or `Temporal.Now`: an instant that nobody passed in. */
function isClock(node: Node): boolean {
  switch (node.type) {
    case 'NewExpression':
      return isIdentifier(node.callee, 'Date') && argument(node, 0) === null
    case 'CallExpression':
      return isIdentifier(node.callee, 'Date')
    case 'MemberExpression':
      return (
        (isIdentifier(node.object, 'Date') && isNamed(node.property, 'now')) ||
        (isIdentifier(node.object, 'Temporal') && isNamed(node.property, 'Now'))
      )
    default:
      return false
  }
}

function isOwnAddress(node: unknown): boolean {
  return isNode(node) && isNode(node.object) && node.object.type === 'MetaProperty'
}

function argument(node: Node, index: number): Node | null {
  const given: unknown = Array.isArray(node.arguments) ? node.arguments[index] : null
  return isNode(given) && isNode(given.expression) ? given.expression : null
}

function isIdentifier(node: unknown, name: string): boolean {
  return isNode(node) && node.type === 'Identifier' && node.value === name
}

function isNamed(node: unknown, name: string): boolean {
  return (
    isIdentifier(node, name) || (isNode(node) && isNode(node.expression) && node.expression.value === name)
  )
}

function mentions(node: unknown, name: string): boolean {
  return [...nodesOf(node)].some((inner) => isIdentifier(inner, name))
}
