/** The components: every object of the route table's schemas, named, in the dialect of generators. */
import type { TSchema } from 'typebox'
import { responseSchema, writableValues } from '../schemas/body-and-response.ts'
import type { Variant, Variants } from '../schemas/variants.ts'

export interface JsonSchema {
  readonly $id?: string
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly deprecated?: boolean
  readonly examples?: readonly unknown[]
  readonly minimum?: number
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>
  readonly additionalProperties?: JsonSchema | boolean
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly discriminator?: {
    readonly propertyName: string
    readonly mapping?: Readonly<Record<string, string>>
  }
  readonly 'x-variants'?: Variants
  readonly 'x-neutral'?: unknown
  readonly [keyword: string]: unknown
}

/** `response`: as a read shows it. `embedded`: as another resource or an event shows it. */
export type Form = 'body' | 'response' | 'embedded'

export interface Components {
  readonly schemas: Readonly<Record<string, JsonSchema>>
  add(name: string, schema: JsonSchema): JsonSchema
  /** Adds a schema with all objects in it, and returns a reference. */
  refTo(schema: TSchema, form: Form): JsonSchema
}

/** `embeddedIn` returns what `expand` can embed in a resource, by name; null if nothing. */
export function createComponents(
  embeddedIn: (resource: TSchema) => Readonly<Record<string, JsonSchema>> | null,
): Components {
  const schemas: Record<string, JsonSchema> = {}
  const refs = new Map<string, JsonSchema>()

  const add = (name: string, schema: JsonSchema): JsonSchema => {
    schemas[name] = schema
    return refToComponent(name)
  }

  const refTo = (schema: TSchema, form: Form): JsonSchema => {
    const whole = schema as JsonSchema
    const shown = form === 'embedded' && !isEmbeddedInPart(whole) ? 'response' : form
    const base = whole.$id ?? whole.title ?? 'Unnamed'
    const known = refs.get(`${shown} ${base}`)
    if (known !== undefined) return known
    const name = nameIn(shown, base)
    const ref = refToComponent(name)
    refs.set(`${shown} ${base}`, ref)
    schemas[name] = {} // holds its place: components are listed in the order of the route table
    const read = shown === 'body' ? whole : (responseSchema(schema) as JsonSchema)
    const object = objectSchema(read, shown, base)
    schemas[name] = shown === 'response' ? withEmbedded(object, base, embeddedIn(schema)) : object
    return ref
  }

  const objectSchema = (schema: JsonSchema, form: Form, base: string): JsonSchema => {
    const choice = schema['x-variants']
    const members = membersOf(schema, form, base)
    if (choice === undefined) return plain(schema, members)
    // A body may omit what a variant excludes: it fits one only if each requires a member that no other has.
    const isExclusive =
      form !== 'body' ||
      choice.by !== null ||
      Object.entries(choice.variants).every(([key, { has = [] }]) =>
        has.some((name) =>
          Object.entries(choice.variants).every(
            ([other, { has: theirs = [], may = [] }]) => other === key || ![...theirs, ...may].includes(name),
          ),
        ),
      )
    const listed = Object.values(choice.variants).flatMap(({ has = [], may = [] }) => [...has, ...may])
    const named = Object.entries(choice.variants).map(([key, variant]) => {
      const excluded = listed.filter(
        (name) => ![...(variant.has ?? []), ...(variant.may ?? [])].includes(name),
      )
      const { by } = choice
      const part = variantOf(members, variant, excluded, by !== null)
      const name = nameIn(form, by === null ? key : `${pascal(key)}${base}`)
      if (by !== null) part.properties[by] = { ...part.properties[by], type: 'string', enum: [key] }
      return { key, ref: add(name, plain({ description: schema.description ?? base }, part)) }
    })
    return {
      ...(schema.description === undefined ? {} : { description: schema.description }),
      [isExclusive ? 'oneOf' : 'anyOf']: named.map(({ ref }) => ref),
      ...(choice.by === null
        ? {}
        : {
            discriminator: {
              propertyName: choice.by,
              mapping: Object.fromEntries(named.map(({ key, ref }) => [key, ref.$ref ?? ''])),
            },
          }),
    }
  }

  const membersOf = (schema: JsonSchema, form: Form, base: string): Members => {
    const names = Object.entries(schema.properties ?? {}).flatMap(([name, member]) =>
      isShown(name, member, form) ? [name] : [],
    )
    const required = new Set((schema.required ?? []).filter((name) => names.includes(name)))
    const own = names.map(
      (name) =>
        [name, memberSchema(schema.properties?.[name] ?? {}, form, `${base}${pascal(name)}`)] as const,
    )
    return {
      properties: Object.fromEntries(
        own.map(([name, member]) => [name, form === 'body' && !required.has(name) ? orNull(member) : member]),
      ),
      required,
      nullable: new Set(own.flatMap(([name, member]) => (hasNull(member) ? [name] : []))),
    }
  }

  const memberSchema = (schema: JsonSchema, form: Form, base: string): JsonSchema => {
    const isNullable = [schema.type ?? []].flat().includes('null')
    if (schema.properties !== undefined && Object.keys(schema.properties).length > 0) {
      const ref = refToObject(schema, form, base)
      const described = { ...descriptionUnless(schemas[ref.$ref?.split('/').at(-1) ?? ''], schema), ...ref }
      return isNullable ? orNull(described) : described
    }
    const { items, anyOf, oneOf, allOf } = schema
    const inside = (parts: readonly JsonSchema[]) =>
      parts.map((part, index) => memberSchema(part, form, `${base}${index + 1}`))
    return scalar({
      ...(form === 'body' ? (writableValues(schema) as JsonSchema) : schema),
      ...(form === 'body' && !isObjectDefault(schema) ? {} : { default: undefined }),
      ...(items === undefined ? {} : { items: memberSchema(items, form, singular(base)) }),
      ...(anyOf === undefined ? {} : { anyOf: inside(anyOf) }),
      ...(oneOf === undefined ? {} : { oneOf: inside(oneOf) }),
      ...(allOf === undefined ? {} : { allOf: inside(allOf) }),
      ...freeMembers(schema, (value) => memberSchema(value, form, `${base}Value`)),
    })
  }

  /** A shared object is named by its title, any other by its place. */
  const refToObject = (schema: JsonSchema, form: Form, base: string): JsonSchema => {
    const { title = base } = schema
    const shown = form === 'embedded' && !isEmbeddedInPart(schema) ? 'response' : form
    for (const candidate of title === base ? [base] : [title, base]) {
      const name = nameIn(shown, candidate)
      const { description: _, ...object } = objectSchema(schema, shown, candidate)
      const known = schemas[name]
      if (known === undefined)
        return add(name, {
          ...(schema.description === undefined ? {} : { description: schema.description }),
          ...object,
        })
      const { description: __, ...same } = known
      if (JSON.stringify(same) === JSON.stringify(object)) return refToComponent(name)
    }
    throw new Error(`Two schemas of the document would have the name ${nameIn(shown, base)}.`)
  }

  const withEmbedded = (
    schema: JsonSchema,
    base: string,
    embedded: Readonly<Record<string, JsonSchema>> | null,
  ): JsonSchema => {
    if (embedded === null) return schema
    const ref = add(`${base}Embedded`, {
      type: 'object',
      description: 'Related objects that `expand` requested; null if there is none.',
      properties: embedded,
    })
    const extended = (one: JsonSchema) => ({ ...one, properties: { ...one.properties, _embedded: ref } })
    const variants = schema.oneOf ?? schema.anyOf
    if (variants === undefined) return extended(schema)
    for (const { $ref } of variants) {
      const name = $ref?.split('/').at(-1) ?? ''
      schemas[name] = extended(schemas[name] ?? {})
    }
    return schema
  }

  return { schemas, add, refTo }
}

interface Members {
  readonly properties: Record<string, JsonSchema>
  readonly required: ReadonlySet<string>
  /** Members of which null is a value of their own. */
  readonly nullable: ReadonlySet<string>
}

export function refToComponent(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, description, ...rest } = schema
  const described = description === undefined ? {} : { description }
  if (type === 'null') return schema
  if (schema.$ref !== undefined) return { ...described, oneOf: [{ ...rest }, { type: 'null' }] }
  if (schema.oneOf !== undefined || schema.anyOf !== undefined || schema.allOf !== undefined) {
    const key = schema.oneOf !== undefined ? 'oneOf' : 'anyOf'
    const parts = schema[key]
    if (parts?.some((part) => [part.type ?? []].flat().includes('null'))) return schema
    return parts === undefined
      ? { ...described, anyOf: [{ ...rest }, { type: 'null' }] }
      : { ...described, ...rest, [key]: [...parts, { type: 'null' }] }
  }
  if (type === undefined) return schema
  return {
    ...described,
    type: [...new Set([...[type].flat(), 'null'])],
    ...(values === undefined ? {} : { enum: [...new Set([...values, null])] }),
    ...rest,
  }
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, oneOf, description, default: _, ...rest } = schema
  const parts = oneOf?.filter((part) => part.type !== 'null')
  if (parts?.length === 1) return { ...(description === undefined ? {} : { description }), ...parts[0] }
  const types = [type ?? []].flat().filter((one) => one !== 'null')
  return {
    ...(description === undefined ? {} : { description }),
    ...(types.length === 0 ? {} : { type: types.length === 1 ? types[0] : types }),
    ...(values === undefined ? {} : { enum: values.filter((value) => value !== null) }),
    ...(parts === undefined ? {} : { oneOf: parts }),
    ...rest,
  } as JsonSchema
}

function hasNull({ type, oneOf, anyOf }: JsonSchema): boolean {
  return [type ?? []].flat().includes('null') || (oneOf ?? anyOf ?? []).some((part) => part.type === 'null')
}

/** Or empty, because openapi-generator has no type for null alone in Python, and no enumeration of it in Java. */
const ALWAYS_NULL: JsonSchema = { description: 'Always null.', type: ['string', 'null'], enum: ['', null] }

/** What a variant excludes is missing, or null if null is a value and nothing else tells the variants apart. */
function variantOf(
  { properties, required, nullable }: Members,
  { has = [], narrowed = {} }: Variant,
  excluded: readonly string[],
  isMarked: boolean,
): Members {
  const members = Object.entries(properties).flatMap(([name, member]) => {
    const own = narrowed[name] as JsonSchema | undefined
    if (has.includes(name)) return [[name, own === undefined ? withoutNull(member) : scalar(own)] as const]
    if (!excluded.includes(name)) return [[name, member] as const]
    return !isMarked && nullable.has(name) ? [[name, ALWAYS_NULL] as const] : []
  })
  const names = members.map(([name]) => name)
  return {
    properties: Object.fromEntries(members),
    required: new Set([...required, ...has].filter((name) => names.includes(name))),
    nullable,
  }
}

function plain({ description }: JsonSchema, { properties, required }: Omit<Members, 'nullable'>): JsonSchema {
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    ...(required.size === 0
      ? {}
      : { required: Object.keys(properties).filter((name) => required.has(name)) }),
    properties,
  }
}

/** A body shows neither read-only members nor names that begin with an underscore: both are ignored. */
function isShown(name: string, member: JsonSchema, form: Form): boolean {
  switch (form) {
    case 'body':
      return member.readOnly !== true && member['x-withheld'] !== true && !name.startsWith('_')
    case 'response':
      return true
    case 'embedded':
      return !isLeftOut(member)
  }
}

function isLeftOut(member: JsonSchema): boolean {
  return 'x-neutral' in member || 'x-not-embedded' in member
}

function isEmbeddedInPart(schema: JsonSchema): boolean {
  if (isLeftOut(schema)) return true
  const { properties = {}, items } = schema
  return Object.values(properties).some(isEmbeddedInPart) || (items !== undefined && isEmbeddedInPart(items))
}

/** Formats of this service, as patterns that any validator knows. */
const FORMATS: Readonly<Record<string, JsonSchema>> = {
  currency: { pattern: '^[A-Z]{3}$', minLength: 3, maxLength: 3 },
  ip: { minLength: 2, maxLength: 45 },
}

/** Removes private keywords, and adds types of values and formats of numbers. */
function scalar(schema: JsonSchema): JsonSchema {
  const {
    $id,
    title,
    readOnly,
    writeOnly,
    const: one,
    format,
    if: _,
    then,
    else: __,
    ...rest
  } = strictestRange(schema)
  const values = supportedValues(rest) ?? rest.enum ?? (typeof one === 'string' ? [one] : undefined)
  // What a member that is always null will be is not known yet.
  const isUnknown = rest['x-neutral'] === null && [rest.type ?? []].flat().length > 2
  const type = isUnknown ? undefined : (rest.type ?? (values === undefined ? undefined : typesOf(values)))
  const isNumber = [type ?? []].flat().includes('number')
  const own = format === undefined ? undefined : FORMATS[format]
  const isDeprecated = /^Deprecated\b/.test(rest.description ?? '')
  return Object.fromEntries(
    Object.entries({
      description: rest.description,
      ...(values === undefined ? { const: one } : {}),
      ...rest,
      type,
      ...(values === undefined ? {} : { enum: values }),
      ...(own ?? { format: format ?? (isNumber ? 'double' : undefined) }),
      ...(isDeprecated ? { deprecated: true } : {}),
      ...inWords(rest, values),
    }).filter(([keyword, value]) => value !== undefined && !keyword.startsWith('x-')),
  ) as JsonSchema
}

/** What openapi-generator cannot compile beside an enumeration: its default in Go, its uniqueness in Java. */
function inWords({ description, default: preset, items }: JsonSchema, values: unknown): Partial<JsonSchema> {
  const words = description === undefined ? '' : `${description} `
  if (values !== undefined && preset !== undefined)
    return { description: `${words}Default: \`${String(preset)}\`.`, default: undefined }
  return items?.enum === undefined ? {} : { uniqueItems: undefined }
}

function supportedValues({ 'x-supported': supported, type }: JsonSchema): unknown[] | undefined {
  if (!Array.isArray(supported)) return undefined
  return [...supported, ...([type ?? []].flat().includes('null') ? [null] : [])]
}

function strictestRange(schema: JsonSchema): JsonSchema {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema as Record<
    string,
    number | undefined
  >
  const isBoth = (one?: number, other?: number): boolean => one !== undefined && other !== undefined
  const weaker = [
    isBoth(minimum, exclusiveMinimum) &&
      (Number(minimum) > Number(exclusiveMinimum) ? 'exclusiveMinimum' : 'minimum'),
    isBoth(maximum, exclusiveMaximum) &&
      (Number(maximum) < Number(exclusiveMaximum) ? 'exclusiveMaximum' : 'maximum'),
  ]
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !weaker.includes(keyword)))
}

function typesOf(values: readonly unknown[]): string | string[] {
  const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))]
  return types.length === 1 ? (types[0] ?? 'string') : types
}

function isObjectDefault({ default: value }: JsonSchema): boolean {
  return value === null || (typeof value === 'object' && !Array.isArray(value))
}

/** A pattern that every name matches becomes `additionalProperties`. */
function freeMembers(
  { type, properties, patternProperties, additionalProperties }: JsonSchema,
  convert: (schema: JsonSchema) => JsonSchema,
): object {
  if (properties === undefined && patternProperties === undefined && additionalProperties === undefined)
    return {}
  const [value] = Object.values(patternProperties ?? {})
  const free = value ?? additionalProperties
  return {
    type,
    properties: undefined,
    patternProperties: undefined,
    required: undefined,
    additionalProperties: typeof free === 'object' && Object.keys(free).length > 0 ? convert(free) : true,
  }
}

function descriptionUnless(component: JsonSchema | undefined, { description }: JsonSchema): JsonSchema {
  return description === undefined || description === component?.description ? {} : { description }
}

function nameIn(form: Form, base: string): string {
  if (form === 'embedded') return `Embedded${base}`
  return form === 'body' ? `${base}Body` : base
}

export function pascal(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

function singular(name: string): string {
  if (name.endsWith('ies')) return `${name.slice(0, -3)}y`
  if (/(ss|us)es$/.test(name)) return name.slice(0, -2)
  return name.endsWith('s') && !name.endsWith('ss') ? name.slice(0, -1) : `${name}Item`
}
