/**
 * Objects whose members depend on one of them, or on which of them they have.
 *
 * Validation treats such an object as one schema, so that a message names the member and not an alternative. The
 * OpenAPI document shows one schema per variant, so that generators make a type of each.
 */

export interface Variant {
  /** Members that this variant always has. */
  readonly has?: readonly string[]
  /** Members that only some variants have, and this one may have. */
  readonly may?: readonly string[]
}

export interface Variants {
  /** The member whose value decides, or null if the members themselves do. */
  readonly by: string | null
  /** By value of that member; else by name of the variant's schema. A member that a variant does not list is not its. */
  readonly variants: Readonly<Record<string, Variant>>
}

/** Keyword for the options of an object schema: the value of the member `by` decides which other members it has. */
export const variantsBy = (by: string, variants: Variants['variants']) => ({
  'x-variants': { by, variants } satisfies Variants,
})

/** Keyword for the options of an object schema: the variants differ by the members that they have. */
export const variants = (variants: Variants['variants']) => ({
  'x-variants': { by: null, variants } satisfies Variants,
})
