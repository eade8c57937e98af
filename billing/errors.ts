/** Errors of the rules and commands; the API maps them to problems in one place. */

export interface InvalidField {
  /** Dotted path into the body: `items.0.plan.id`. */
  readonly field: string
  readonly message: string
}

export class InvalidFieldsError extends Error {
  override readonly name = 'InvalidFieldsError'
  readonly fields: readonly InvalidField[]

  constructor(fields: readonly InvalidField[]) {
    super(fields.map(({ field, message }) => `${field}: ${message}`).join('; '))
    this.fields = fields
  }
}

/** The state of a record forbids the request. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError'
}
