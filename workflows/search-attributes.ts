import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common'
import { SEARCH_ATTRIBUTES, type SearchAttributeName, type SearchAttributes } from './contract.ts'

export function searchAttribute(name: SearchAttributeName, value: string | null) {
  return name === 'BillingNextDeadline'
    ? {
        key: defineSearchAttributeKey(name, SEARCH_ATTRIBUTES.BillingNextDeadline),
        value: value === null ? null : new Date(value),
      }
    : { key: defineSearchAttributeKey(name, SEARCH_ATTRIBUTES.BillingStatus), value }
}

export function searchAttributePairs(attributes: SearchAttributes): SearchAttributePair[] {
  return Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => searchAttribute(name as SearchAttributeName, value) as SearchAttributePair)
}
