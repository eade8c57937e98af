import Type, { type Static } from 'typebox'
import { CUSTOM_FIELD_TYPES, MAX_TEXT_LENGTH } from '../../billing/custom-fields.ts'
import { Nullable, OmittedWhenUnknown, ReadOnly, resourceMembers, Text } from './conventions.ts'

const { revision, createdTime, updatedTime, _links } = resourceMembers

const AdditionalSchema = Type.Object(
  {
    allowedValues: OmittedWhenUnknown(
      Type.Array(Text('A value.'), {
        minItems: 1,
        maxItems: 1000,
        description: 'Values that a string, or an element of an array, can have.',
      }),
    ),
    maxLength: OmittedWhenUnknown(
      Type.Integer({
        minimum: 1,
        maximum: MAX_TEXT_LENGTH,
        description: 'Maximum length of a string. 255 if it is missing.',
      }),
    ),
    pattern: OmittedWhenUnknown(
      Text(
        'Regular expression, in the syntax of RE2, that a string has to match. It must be simple enough for strings of `maxLength`: a repetition of hundreds of characters needs a small `maxLength`. A value is refused too if all patterns of its record together take too long.',
        { minLength: 1 },
      ),
    ),
    minimum: OmittedWhenUnknown(Type.Number({ description: 'Minimum of an integer or a number.' })),
    maximum: OmittedWhenUnknown(Type.Number({ description: 'Maximum of an integer or a number.' })),
    required: OmittedWhenUnknown(Type.Boolean({ description: 'Whether every new record needs a value.' })),
    default: OmittedWhenUnknown(Type.Unknown({ description: 'Value of a new record without one.' })),
  },
  { additionalProperties: false, description: 'Constraints beside the type.' },
)

export const CustomField = Type.Object(
  {
    name: ReadOnly(Type.String({ description: 'Name of the field, which the path gives.' })),
    type: Type.Enum([...CUSTOM_FIELD_TYPES], { description: 'Type of the values. It cannot be changed.' }),
    description: Nullable(Type.String({ maxLength: 1000, description: 'Description of the field.' })),
    isEnabled: Type.Optional(
      Type.Boolean({ default: true, description: 'Whether values are validated against this definition.' }),
    ),
    additionalSchema: Nullable(AdditionalSchema),
    revision,
    createdTime,
    updatedTime,
    _links,
  },
  {
    $id: 'CustomField',
    additionalProperties: false,
    description: 'The definition of a custom field of a resource.',
  },
)
export type CustomField = Static<typeof CustomField>
