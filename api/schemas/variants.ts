/**
 * Objects whose members depend on one of them, or on which they have. Validation sees one schema, so that a
 * message names the member. The OpenAPI document has one per variant, so that each becomes a type.
 */
import type { TSchema } from 'typebox'

export interface Variant {
  readonly has?: readonly string[]
  /** Members that only some variants have, and this one may have. */
  readonly may?: readonly string[]
  /** Members of `has` whose values are narrower than over all variants. */
  readonly narrowed?: Readonly<Record<string, TSchema>>
}

export interface Variants {
  /** The member whose value decides, or null if the members themselves do. */
  readonly by: string | null
  /** By value of that member, else by schema name. A variant has no conditional member that it does not list. */
  readonly variants: Readonly<Record<string, Variant>>
}

export const variantsBy = (by: string, variants: Variants['variants']) => ({
  'x-variants': { by, variants } satisfies Variants,
})

export const variants = (variants: Variants['variants']) => ({
  'x-variants': { by: null, variants } satisfies Variants,
})
