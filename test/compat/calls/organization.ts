import type { Call } from '../call.ts'
import type { ShapeName } from '../shapes.ts'
import { CATALOGUE } from './setup.ts'

export const API_KEYS: readonly Call[] = [
  ...CATALOGUE,
  { operation: 'POST api-keys', body: 'full', case: 'with every member', as: 'key' },
  { operation: 'POST api-keys', body: 'nulls', case: 'with nulls', as: 'another' },
  {
    operation: 'POST api-keys',
    body: 'required',
    case: 'that is publishable',
    with: { type: 'publishable' },
  },
  {
    operation: 'POST api-keys',
    body: 'required',
    case: 'with permissions of operations that this release lacks',
    with: { acl: [{ scope: {}, permissions: ['PostFile', 'StorefrontGetAccount', 'PutKycDocument'] }] },
  },
  { operation: 'GET api-keys' },
  { operation: 'GET api-keys/{id}', of: ['key'], as: 'key' },
  { operation: 'PUT api-keys/{id}', body: { held: 'key' }, case: 'with what was read', of: ['key'] },
  {
    operation: 'PUT api-keys/{id}',
    body: 'full',
    case: 'with every member, of a new id',
    of: ['=reports'],
    status: 201,
  },
  { operation: 'DELETE api-keys/{id}', of: ['another'] },
]

export const ORGANIZATION: readonly Call[] = [
  { operation: 'GET organizations/{id}', of: ['organization'], fromRoot: true, as: 'held' },
  {
    operation: 'PATCH organizations/{id}',
    body: 'full',
    case: 'with every member',
    of: ['organization'],
    fromRoot: true,
  },
  {
    operation: 'PATCH organizations/{id}',
    body: 'given',
    case: 'with the tax calculator of a provider',
    with: { settings: { defaultTaxCalculator: { type: 'taxjar', rate: null } } },
    of: ['organization'],
    fromRoot: true,
    notYet: 'taxes of a provider',
  },
  { operation: 'GET organizations', fromRoot: true },
  { operation: 'POST organizations', body: 'full', case: 'with every member' },
  { operation: 'GET status' },
]

const field = (shape: ShapeName, type: string, example: object): readonly Call[] => [
  {
    operation: 'PUT custom-fields/{resource}/{name}',
    shape,
    body: 'full',
    case: `of the type ${type}, with every member`,
    of: ['=customers', `=${type}-field`],
    with: { additionalSchema: { ...example } },
    omit: ['name'],
    status: 201,
  },
  {
    operation: 'PUT custom-fields/{resource}/{name}',
    shape,
    body: 'nulls',
    case: `of the type ${type}, with nulls`,
    of: ['=products', `=${type}-field`],
    status: 201,
  },
]

export const CUSTOM_FIELDS: readonly Call[] = [
  ...field('StringCustomField', 'string', {
    maxLength: 20,
    pattern: '^v',
    allowedValues: ['vip', 'value'],
    required: false,
    default: 'vip',
  }),
  ...field('ArrayCustomField', 'array', { allowedValues: ['a', 'b'], required: false, default: ['a'] }),
  ...field('BooleanCustomField', 'boolean', { required: false, default: false }),
  ...field('DateCustomField', 'date', { required: false, default: '2026-01-31' }),
  ...field('DateTimeCustomField', 'datetime', { required: false, default: '2026-01-31T09:00:00Z' }),
  ...field('IntegerCustomField', 'integer', { minimum: 1, maximum: 9, required: false, default: 2 }),
  ...field('NumberCustomField', 'number', { minimum: 0.5, maximum: 9.5, required: false, default: 2.5 }),
  ...field('MonetaryCustomField', 'monetary', { required: false, default: { currency: 'EUR', amount: 1 } }),
  { operation: 'GET custom-fields/{resource}', of: ['=customers'] },
  {
    operation: 'GET custom-fields/{resource}/{name}',
    of: ['=customers', '=string-field'],
    as: 'field',
  },
  {
    operation: 'PUT custom-fields/{resource}/{name}',
    shape: 'StringCustomField',
    body: { held: 'field' },
    case: 'with what was read',
    of: ['=customers', '=string-field'],
  },
]

export const TAGS: readonly Call[] = [
  { operation: 'POST customers', body: 'required', case: 'with what is required', as: 'customer' },
  { operation: 'POST tags', body: 'full', case: 'with every member', with: { name: 'VIP' }, as: 'tag' },
  { operation: 'GET tags' },
  { operation: 'GET tags/{tag}', of: ['tag.name'] },
  {
    operation: 'PATCH tags/{tag}',
    body: 'given',
    with: { name: 'Gold', type: 'customer' },
    of: ['tag.name'],
    as: 'tag',
  },
  {
    operation: 'POST tags/{tag}/customers',
    body: 'given',
    with: { customerIds: ['{customer}'] },
    of: ['tag.name'],
  },
  {
    operation: 'DELETE tags/{tag}/customers',
    body: 'given',
    with: { customerIds: ['{customer}'] },
    of: ['tag.name'],
  },
  { operation: 'POST tags/{tag}/customers/{customerId}', of: ['tag.name', 'customer'] },
  { operation: 'DELETE tags/{tag}/customers/{customerId}', of: ['tag.name', 'customer'] },
  { operation: 'DELETE tags/{tag}', of: ['tag.name'] },
]
