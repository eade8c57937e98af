/** The stable codes of failing fields, which clients switch on. */
export const FIELD_CODES = {
  required: 'The member is missing, or null where a value is needed.',
  'unknown-member': 'The operation has no member or parameter of this name.',
  'not-supported': 'The member or value is known, but cannot be used here or is not supported yet.',
  'wrong-type': 'The value has another JSON type.',
  'wrong-format': 'The text does not have the format of the member, such as a date-time or an id.',
  'not-one-of': 'The value is not one of those that the member accepts.',
  'out-of-range': 'The number, amount, duration or time is too small or too large.',
  'too-precise': 'The number has more digits than can be kept, or more decimals than its currency has.',
  'too-short': 'The text has too few characters.',
  'too-long': 'The text has too many characters.',
  'too-few': 'The array or object has too few items or members.',
  'too-many': 'The array or object has too many items or members.',
  'too-deep': 'The value is nested too deeply.',
  'not-unique': 'The value occurs more than once where it has to be unique.',
  'not-found': 'The value is the id of a resource that does not exist.',
  'not-allowed': 'The value is valid, but not permitted here, such as a private address.',
  mismatch: 'The value does not fit another member of the request, or the resource that it refers to.',
  'in-the-past': 'The time has to be in the future.',
  expired: 'The card, payment token or coupon has expired.',
  used: 'The payment token was used before.',
  inactive: 'The resource that the value refers to is in a state in which it cannot be used.',
  'not-delivered': 'The target did not accept the request that was sent to it.',
} as const

export type FieldCode = keyof typeof FIELD_CODES

export interface FieldProblem {
  readonly code: FieldCode
  /** Follows the name of the field: `must be in the future`. */
  readonly message: string
}

export interface InvalidField extends FieldProblem {
  /** Dotted path into the body: `items.0.plan.id`. */
  readonly field: string
  /** JSON Pointer (RFC 6901); only where a name on the path contains a dot, and `field` does not say which. */
  readonly pointer?: string
}

export class InvalidFieldsError extends Error {
  override readonly name = 'InvalidFieldsError'
  readonly fields: readonly InvalidField[]

  constructor(fields: readonly InvalidField[]) {
    super(fields.map(({ field, message }) => `${field}: ${message}`).join('; '))
    this.fields = fields
  }
}

/** @throws InvalidFieldsError for one field. */
export function refuse(field: string, code: FieldCode, message: string): never {
  throw new InvalidFieldsError([{ field, code, message }])
}

export class ConflictError extends Error {
  override readonly name = 'ConflictError'
}
