/**
 * Oldest first; add what `npm run migration:create` wrote to the end. An index on a table that has rows is
 * made `concurrently`, in a migration of its own without a transaction, which first drops what a failed
 * attempt has left. Tables with an `organization_id` get their policy afterwards (`db/row-security.ts`).
 */
import { Migration20261122120000_baseline } from './Migration20261122120000_baseline.ts'
import { Migration20261122153000_transactions_know_why_they_were_declined } from './Migration20261122153000_transactions_know_why_they_were_declined.ts'
import { Migration20261122154000_gateway_accounts } from './Migration20261122154000_gateway_accounts.ts'
import { Migration20261122161000_timelines_of_four_records } from './Migration20261122161000_timelines_of_four_records.ts'
import { Migration20261122161100_customers_in_full } from './Migration20261122161100_customers_in_full.ts'
import { Migration20261122161200_custom_field_definitions } from './Migration20261122161200_custom_field_definitions.ts'
import { Migration20261122161500_members_of_orders } from './Migration20261122161500_members_of_orders.ts'
import { Migration20261122164000_members_of_payments } from './Migration20261122164000_members_of_payments.ts'
import { Migration20261122164100_transactions_by_website } from './Migration20261122164100_transactions_by_website.ts'
import { Migration20261122164200_dispute_reasons } from './Migration20261122164200_dispute_reasons.ts'
import { Migration20261122164300_members_of_access } from './Migration20261122164300_members_of_access.ts'
import { Migration20261122164400_requests_are_tracked } from './Migration20261122164400_requests_are_tracked.ts'
import { Migration20261122180000_find_api_key } from './Migration20261122180000_find_api_key.ts'
import { Migration20261122181000_coupons } from './Migration20261122181000_coupons.ts'
import { Migration20261122182000_times_of_events } from './Migration20261122182000_times_of_events.ts'
import { Migration20261122182100_reminders_of_orders } from './Migration20261122182100_reminders_of_orders.ts'
import { Migration20261122183000_invoices_have_numbers } from './Migration20261122183000_invoices_have_numbers.ts'
import { Migration20261122183100_invoice_numbers_are_unique } from './Migration20261122183100_invoice_numbers_are_unique.ts'
import { Migration20261122183200_organizations_have_a_logo } from './Migration20261122183200_organizations_have_a_logo.ts'
import { Migration20261122183300_shipping_rates } from './Migration20261122183300_shipping_rates.ts'
import { Migration20261122184000_gateway_notifications } from './Migration20261122184000_gateway_notifications.ts'
import { Migration20261122184100_transactions_by_gateway_id } from './Migration20261122184100_transactions_by_gateway_id.ts'
import { Migration20261122184200_instruments_by_gateway_reference } from './Migration20261122184200_instruments_by_gateway_reference.ts'
import { Migration20261122184300_instruments_by_expiry } from './Migration20261122184300_instruments_by_expiry.ts'
import { Migration20261122185000_prorated_orders } from './Migration20261122185000_prorated_orders.ts'
import { Migration20261122190000_charges_with_the_customer_present } from './Migration20261122190000_charges_with_the_customer_present.ts'
import { Migration20261122190100_payment_tokens_are_leased } from './Migration20261122190100_payment_tokens_are_leased.ts'
import { Migration20261122190200_cards_of_the_providers_form } from './Migration20261122190200_cards_of_the_providers_form.ts'
import { Migration20261122191000_credit_memos } from './Migration20261122191000_credit_memos.ts'
import { Migration20261122192000_declines_of_invoices } from './Migration20261122192000_declines_of_invoices.ts'
import { Migration20261122193000_customer_credentials } from './Migration20261122193000_customer_credentials.ts'
import { Migration20261122193100_instants_in_range } from './Migration20261122193100_instants_in_range.ts'
import { Migration20261122200000_own_invoices } from './Migration20261122200000_own_invoices.ts'
import { Migration20261122201000_taxes } from './Migration20261122201000_taxes.ts'
import { Migration20261122202000_authorizations } from './Migration20261122202000_authorizations.ts'
import { Migration20261122202100_timelines_of_gateway_accounts } from './Migration20261122202100_timelines_of_gateway_accounts.ts'
import { Migration20261122202200_gateway_routes } from './Migration20261122202200_gateway_routes.ts'
import { Migration20261122202300_test_cards_are_disputed } from './Migration20261122202300_test_cards_are_disputed.ts'
import { Migration20261122203000_changed_periods } from './Migration20261122203000_changed_periods.ts'
import { Migration20261122203100_refunds_of_credit_memos } from './Migration20261122203100_refunds_of_credit_memos.ts'
import { Migration20261123010000_credit_of_invoices } from './Migration20261123010000_credit_of_invoices.ts'
import { Migration20261123123000_cancellations_of_the_first_release } from './Migration20261123123000_cancellations_of_the_first_release.ts'
import { Migration20261123123100_refunds_of_open_invoices } from './Migration20261123123100_refunds_of_open_invoices.ts'
import { Migration20261123140000_trials_that_end_their_order } from './Migration20261123140000_trials_that_end_their_order.ts'
import { Migration20261123153000_withdrawals_of_credit } from './Migration20261123153000_withdrawals_of_credit.ts'
import { Migration20261123160000_revenue_of_daily_orders } from './Migration20261123160000_revenue_of_daily_orders.ts'
import { Migration20261123161000_declined_amounts } from './Migration20261123161000_declined_amounts.ts'
import { Migration20261123170000_resends_under_way } from './Migration20261123170000_resends_under_way.ts'
import { Migration20261123171000_deactivated_defaults } from './Migration20261123171000_deactivated_defaults.ts'
import { Migration20261123172000_given_trials } from './Migration20261123172000_given_trials.ts'
import { Migration20261123180000_charged_in_a_day } from './Migration20261123180000_charged_in_a_day.ts'

export const migrations = [
  { name: 'Migration20261122120000_baseline', class: Migration20261122120000_baseline },
  {
    name: 'Migration20261122153000_transactions_know_why_they_were_declined',
    class: Migration20261122153000_transactions_know_why_they_were_declined,
  },
  { name: 'Migration20261122154000_gateway_accounts', class: Migration20261122154000_gateway_accounts },
  {
    name: 'Migration20261122161000_timelines_of_four_records',
    class: Migration20261122161000_timelines_of_four_records,
  },
  { name: 'Migration20261122161100_customers_in_full', class: Migration20261122161100_customers_in_full },
  {
    name: 'Migration20261122161200_custom_field_definitions',
    class: Migration20261122161200_custom_field_definitions,
  },
  { name: 'Migration20261122161500_members_of_orders', class: Migration20261122161500_members_of_orders },
  { name: 'Migration20261122164000_members_of_payments', class: Migration20261122164000_members_of_payments },
  {
    name: 'Migration20261122164100_transactions_by_website',
    class: Migration20261122164100_transactions_by_website,
  },
  { name: 'Migration20261122164200_dispute_reasons', class: Migration20261122164200_dispute_reasons },
  { name: 'Migration20261122164300_members_of_access', class: Migration20261122164300_members_of_access },
  {
    name: 'Migration20261122164400_requests_are_tracked',
    class: Migration20261122164400_requests_are_tracked,
  },
  { name: 'Migration20261122180000_find_api_key', class: Migration20261122180000_find_api_key },
  { name: 'Migration20261122181000_coupons', class: Migration20261122181000_coupons },
  { name: 'Migration20261122182000_times_of_events', class: Migration20261122182000_times_of_events },
  { name: 'Migration20261122182100_reminders_of_orders', class: Migration20261122182100_reminders_of_orders },
  {
    name: 'Migration20261122183000_invoices_have_numbers',
    class: Migration20261122183000_invoices_have_numbers,
  },
  {
    name: 'Migration20261122183100_invoice_numbers_are_unique',
    class: Migration20261122183100_invoice_numbers_are_unique,
  },
  {
    name: 'Migration20261122183200_organizations_have_a_logo',
    class: Migration20261122183200_organizations_have_a_logo,
  },
  { name: 'Migration20261122183300_shipping_rates', class: Migration20261122183300_shipping_rates },
  { name: 'Migration20261122185000_prorated_orders', class: Migration20261122185000_prorated_orders },
  {
    name: 'Migration20261122190000_charges_with_the_customer_present',
    class: Migration20261122190000_charges_with_the_customer_present,
  },
  {
    name: 'Migration20261122190100_payment_tokens_are_leased',
    class: Migration20261122190100_payment_tokens_are_leased,
  },
  {
    name: 'Migration20261122190200_cards_of_the_providers_form',
    class: Migration20261122190200_cards_of_the_providers_form,
  },
  { name: 'Migration20261122191000_credit_memos', class: Migration20261122191000_credit_memos },
  {
    name: 'Migration20261122192000_declines_of_invoices',
    class: Migration20261122192000_declines_of_invoices,
  },
  {
    name: 'Migration20261122193000_customer_credentials',
    class: Migration20261122193000_customer_credentials,
  },
  { name: 'Migration20261122193100_instants_in_range', class: Migration20261122193100_instants_in_range },
  {
    name: 'Migration20261122184000_gateway_notifications',
    class: Migration20261122184000_gateway_notifications,
  },
  {
    name: 'Migration20261122184100_transactions_by_gateway_id',
    class: Migration20261122184100_transactions_by_gateway_id,
  },
  {
    name: 'Migration20261122184200_instruments_by_gateway_reference',
    class: Migration20261122184200_instruments_by_gateway_reference,
  },
  {
    name: 'Migration20261122184300_instruments_by_expiry',
    class: Migration20261122184300_instruments_by_expiry,
  },
  { name: 'Migration20261122200000_own_invoices', class: Migration20261122200000_own_invoices },
  { name: 'Migration20261122201000_taxes', class: Migration20261122201000_taxes },
  { name: 'Migration20261122202000_authorizations', class: Migration20261122202000_authorizations },
  {
    name: 'Migration20261122202100_timelines_of_gateway_accounts',
    class: Migration20261122202100_timelines_of_gateway_accounts,
  },
  { name: 'Migration20261122202200_gateway_routes', class: Migration20261122202200_gateway_routes },
  {
    name: 'Migration20261122202300_test_cards_are_disputed',
    class: Migration20261122202300_test_cards_are_disputed,
  },
  { name: 'Migration20261122203000_changed_periods', class: Migration20261122203000_changed_periods },
  {
    name: 'Migration20261122203100_refunds_of_credit_memos',
    class: Migration20261122203100_refunds_of_credit_memos,
  },
  {
    name: 'Migration20261123010000_credit_of_invoices',
    class: Migration20261123010000_credit_of_invoices,
  },
  {
    name: 'Migration20261123123000_cancellations_of_the_first_release',
    class: Migration20261123123000_cancellations_of_the_first_release,
  },
  {
    name: 'Migration20261123123100_refunds_of_open_invoices',
    class: Migration20261123123100_refunds_of_open_invoices,
  },
  {
    name: 'Migration20261123140000_trials_that_end_their_order',
    class: Migration20261123140000_trials_that_end_their_order,
  },
  {
    name: 'Migration20261123153000_withdrawals_of_credit',
    class: Migration20261123153000_withdrawals_of_credit,
  },
  {
    name: 'Migration20261123160000_revenue_of_daily_orders',
    class: Migration20261123160000_revenue_of_daily_orders,
  },
  { name: 'Migration20261123161000_declined_amounts', class: Migration20261123161000_declined_amounts },
  { name: 'Migration20261123170000_resends_under_way', class: Migration20261123170000_resends_under_way },
  {
    name: 'Migration20261123171000_deactivated_defaults',
    class: Migration20261123171000_deactivated_defaults,
  },
  { name: 'Migration20261123172000_given_trials', class: Migration20261123172000_given_trials },
  { name: 'Migration20261123180000_charged_in_a_day', class: Migration20261123180000_charged_in_a_day },
]
