/** Labels as the engine's search attributes. */
import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common'
import { type Labels, SEARCH_ATTRIBUTES, type SearchAttributeName } from './contract.ts'

/** The attribute and its new value; null takes it away. */
export function searchAttribute(name: SearchAttributeName, value: string | null) {
  return name === 'BillingNextDeadline'
    ? {
        key: defineSearchAttributeKey(name, SEARCH_ATTRIBUTES.BillingNextDeadline),
        value: value === null ? null : new Date(value),
      }
    : { key: defineSearchAttributeKey(name, SEARCH_ATTRIBUTES.BillingStatus), value }
}

/** What an execution is started with: those that have a value. */
export function searchAttributes({ attributes }: Labels): SearchAttributePair[] {
  return Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => searchAttribute(name as SearchAttributeName, value) as SearchAttributePair)
}
