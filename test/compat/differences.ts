/** What this release lacks of the interface, with reasons. Whoever builds one takes it out here. */
import type { GROUPS, Operation } from './operations.ts'
import type { ShapeName } from './shapes.ts'

export const PENDING: Partial<Record<Operation, string>> = {
  'POST customers/{id}/compliance-screening-report': 'compliance reports',
  'POST digital-wallets/onboarding/apple-pay': 'payments by digital wallets',
  'POST payment-instruments/{id}/name-inquiry': "inquiries of an account holder's name",
  'POST transactions/{id}/update': 'updates of a transaction by hand',
  'GET gateway-accounts/{id}/downtime-schedules': 'downtime of gateway accounts',
  'POST gateway-accounts/{id}/downtime-schedules': 'downtime of gateway accounts',
  'GET gateway-accounts/{id}/downtime-schedules/{downtimeId}': 'downtime of gateway accounts',
  'PUT gateway-accounts/{id}/downtime-schedules/{downtimeId}': 'downtime of gateway accounts',
  'DELETE gateway-accounts/{id}/downtime-schedules/{downtimeId}': 'downtime of gateway accounts',
  'GET gateway-accounts/{id}/limits': 'limits of gateway accounts',
  'GET gateway-accounts/{id}/limits/{limitId}': 'limits of gateway accounts',
  'PUT gateway-accounts/{id}/limits/{limitId}': 'limits of gateway accounts',
  'DELETE gateway-accounts/{id}/limits/{limitId}': 'limits of gateway accounts',
  'GET gateway-accounts/{id}/financial-settings': 'fees of gateway accounts',
  'PUT gateway-accounts/{id}/financial-settings': 'fees of gateway accounts',
  'GET service-credentials/{type}/{id}/items': 'credentials of spreadsheets',
  'GET events/{eventType}/rules': 'rules',
  'PUT events/{eventType}/rules': 'rules',
  'GET events/{eventType}/timeline': 'rules',
  'POST events/{eventType}/timeline': 'rules',
  'GET events/{eventType}/timeline/{messageId}': 'rules',
  'DELETE events/{eventType}/timeline/{messageId}': 'rules',
  'GET events/{eventType}/rules/history': 'rules',
  'GET events/{eventType}/rules/history/{version}': 'rules',
  'GET events/{eventType}/rules/versions/{version}': 'rules',
  'GET events/{eventType}/rules/drafts': 'rules',
  'POST events/{eventType}/rules/drafts': 'rules',
  'GET events/{eventType}/rules/drafts/{id}': 'rules',
  'PUT events/{eventType}/rules/drafts/{id}': 'rules',
  'DELETE events/{eventType}/rules/drafts/{id}': 'rules',
  'POST organizations': 'several organizations of one owner',
  'POST tags/{tag}/kyc-documents': 'KYC',
  'DELETE tags/{tag}/kyc-documents': 'KYC',
  'POST tags/{tag}/kyc-documents/{kycDocumentId}': 'KYC',
  'DELETE tags/{tag}/kyc-documents/{kycDocumentId}': 'KYC',
  'POST tags/{tag}/aml-checks': 'AML',
  'DELETE tags/{tag}/aml-checks': 'AML',
  'POST tags/{tag}/aml-checks/{amlCheckId}': 'AML',
  'DELETE tags/{tag}/aml-checks/{amlCheckId}': 'AML',
  'GET tags-rules': 'rules',
  'POST tags-rules': 'rules',
  'GET tags-rules/{id}': 'rules',
  'PUT tags-rules/{id}': 'rules',
  'DELETE tags-rules/{id}': 'rules',
}

/** Groups of which nothing exists. The rest of a group that is begun goes into `PENDING`. */
export const PENDING_GROUPS: Partial<Record<keyof typeof GROUPS, string>> = {
  Usage: 'metered billing',
  KYC: 'KYC',
  Files: 'files',
  'Blocklists, allowlists': 'blocklists and allowlists',
  Quotes: 'quotes',
}

/** Members by their path, `items.price` for that of any item. */
export interface Differences {
  /** Refused by 422 "not supported yet" unless they say that the feature is not used. */
  readonly notSupported?: Readonly<Record<string, string>>
  /** In no response; accepted, or only ever returned. */
  readonly notReturned?: Readonly<Record<string, string>>
  readonly otherwise?: Readonly<Record<string, string>>
}

/** Values that say that a feature is not used, beside null, false, 0, "", [] and {}. */
export const UNUSED: Readonly<Record<string, string>> = {
  'recurringInterval.billingTiming': 'prepaid',
  setupInstruction: 'do-nothing',
  readyToPayoutInstruction: 'none',
}

const NO_SCOPE_BY_RECORD = 'keys whose permissions end at some plans, products or custom fields'
const NO_OPTIONS = 'options of products'
const NO_TIME_OF_ANCHORS = 'a time of day for periods that begin on a fixed day: that of the start is kept'
const NO_AUTHOR = 'a comment is made with an API key, which is no user'
const NO_LINKS_INSIDE = 'the links of a lead source are at customers/{id}/lead-source'
const NOT_STORED = 'an upcoming invoice is computed, and not stored before it is issued'
const NO_ITEM_EXPANSION = 'embedded records of items: read them by their ids'
const NO_PLACEHOLDERS = 'links of an entry name records of this service only'
const NO_STATED_TAXES = 'taxes that a caller states: they follow from the settings of the organization'
const NO_DCC = 'conversion of currencies at checkout'
const NO_OTP = 'one-time passwords'
const NO_REFERENCE_DATA = 'reference data of other systems: use customFields'
const NO_PAYOUTS = 'payouts'

export const DIFFERENCES: Partial<Record<ShapeName, Differences>> = {
  ApiKey: {
    notSupported: {
      'acl.scope.productId': NO_SCOPE_BY_RECORD,
      'acl.scope.planId': NO_SCOPE_BY_RECORD,
      'acl.scope.customFieldName': NO_SCOPE_BY_RECORD,
    },
  },
  AuthenticationOptions: { notSupported: { otpRequired: NO_OTP } },
  AuthenticationTokenPasswordlessMode: { notSupported: { otpRequired: NO_OTP } },
  Customer: {
    notSupported: {
      preferredPayoutInstrumentId: NO_PAYOUTS,
      personId: 'persons behind several customers',
      notificationEmails: 'e-mail to customers',
    },
    notReturned: { 'leadSource._links': NO_LINKS_INSIDE },
  },
  CustomerJWT: {
    notSupported: {
      oneTimePassword: NO_OTP,
      customClaims: 'claims of your own in the JWT',
      'acl.scope.productId': NO_SCOPE_BY_RECORD,
      'acl.scope.planId': NO_SCOPE_BY_RECORD,
      'acl.scope.customFieldName': NO_SCOPE_BY_RECORD,
    },
  },
  CreditMemo: {
    notSupported: {
      'items.invoiceItemId': 'credit memos that refer to items, products or plans',
      'items.productId': 'credit memos that refer to items, products or plans',
      'items.planId': 'credit memos that refer to items, products or plans',
      quoteId: 'quotes',
    },
  },
  CreditMemoTimeline: {
    notReturned: {
      'extraData.author': NO_AUTHOR,
      'extraData.links.externalUrl': NO_PLACEHOLDERS,
      'extraData.links.placeholder': NO_PLACEHOLDERS,
    },
    otherwise: { type: 'timeline-comment-created for a comment, and credit-memo-modified' },
  },
  CustomerTimeline: { notReturned: { 'extraData.author': NO_AUTHOR } },
  GatewayAccount: {
    notSupported: {
      acquirerName: 'acquirers behind a gateway',
      merchantCategoryCode: 'it is set at the provider',
      dccMarkup: NO_DCC,
      dccForceCurrency: NO_DCC,
      dccForceConfirmation: NO_DCC,
      dccForceRounding: NO_DCC,
      excludedDccQuoteCurrencies: NO_DCC,
      cityField: 'it is set at the provider',
      monthlyLimit: 'limits of gateway accounts',
      approvalWindowTtl: 'approval of sales by hand',
      reconciliationWindowEnabled: 'reconciliation',
      reconciliationWindowTtl: 'reconciliation',
      threeDSecure: '3-D Secure',
      dynamicDescriptor: 'a descriptor for each sale',
      digitalWallets: 'payments by digital wallets',
      additionalFilters: 'accounts that are chosen by rules',
      timeout: 'a timeout for each account',
      setupInstruction: 'authorizations when a card is added',
      readyToPayoutInstruction: NO_PAYOUTS,
      payoutLimits: NO_PAYOUTS,
      transactionEmailAliasTemplate: 'e-mail to customers',
    },
    notReturned: {
      'digitalWallets.applePay': 'payments by digital wallets',
      'digitalWallets.googlePay': 'payments by digital wallets',
    },
  },
  GlobalWebhook: {
    notSupported: { body: 'payloads of your own form', filter: 'filters by content: use eventsFilter' },
  },
  Invoice: {
    notSupported: {
      retryInstruction: 'retries for each invoice: those of the organization apply',
      tax: NO_STATED_TAXES,
      'items.tax': NO_STATED_TAXES,
    },
    notReturned: {
      'items._embedded': NO_ITEM_EXPANSION,
      'transactions._embedded': 'embedded records of transactions: read them at transactions/{id}',
    },
  },
  InvoiceItem: { notSupported: { tax: NO_STATED_TAXES } },
  InvoiceTimeline: {
    notReturned: {
      'extraData.author': NO_AUTHOR,
      'extraData.links.externalUrl': NO_PLACEHOLDERS,
      'extraData.links.placeholder': NO_PLACEHOLDERS,
    },
  },
  LeadSource: { notReturned: { 'original._links': NO_LINKS_INSIDE } },
  OneTimeSalePlan: { notSupported: { productOptions: NO_OPTIONS } },
  OneTimeSale: {
    notReturned: { 'items._embedded.product': NO_ITEM_EXPANSION },
    otherwise: { status: 'active from the start of the order until its invoice is paid' },
  },
  OrderItemUpdate: { notSupported: { 'plan.productOptions': NO_OPTIONS } },
  OrderPreview: { notReturned: { couponIds: 'only what each takes off is shown, in discounts' } },
  OrderTimeline: {
    notReturned: {
      'extraData.author': NO_AUTHOR,
      'extraData.links.externalUrl': NO_PLACEHOLDERS,
      'extraData.links.placeholder': NO_PLACEHOLDERS,
    },
  },
  Organization: {
    notSupported: {
      'settings.billing.orderDelinquencyPeriod': 'a delinquency period of all orders: each has its own',
      'settings.billing.subtractRecurringDiscountsFromMrr': 'MRR less discounts',
      'settings.billing.subtractOneTimeDiscountsFromMrr': 'MRR less discounts',
      'settings.notifications': 'e-mail to users',
      'settings.annualComplianceScreening': 'compliance reports',
      'settings.payoutRequestAllocationOrder': NO_PAYOUTS,
    },
  },
  PaymentCard: {
    notSupported: {
      isPayoutable: NO_PAYOUTS,
      stickyGatewayAccountId: 'a card stays with the gateway account that stores it',
      digitalWallet: 'payments by digital wallets',
    },
  },
  PaymentCardToken: {
    notSupported: { 'paymentInstrument.encryptedCvv': 'card data that the client has encrypted: send cvv' },
  },
  Product: {
    notSupported: {
      requiresShipping: 'shipping that follows from products',
      options: NO_OPTIONS,
      accountingCode: 'accounting',
      recognition: 'accounting',
    },
  },
  Subscription: {
    notSupported: {
      'recurringInterval.periodAnchorInstruction.time': NO_TIME_OF_ANCHORS,
      'items.plan.productOptions': NO_OPTIONS,
      'items.plan.meteredBilling': 'metered billing',
      'items.plan.recurringInterval.periodAnchorInstruction.time': NO_TIME_OF_ANCHORS,
    },
    notReturned: { 'items._embedded.product': NO_ITEM_EXPANSION },
  },
  SubscriptionChange: {
    notSupported: {
      effectiveTime: 'changes at a time ahead',
      keepTrial: 'a new period behind the trial',
      ignoreRecurring: 'changes that end with the trial',
    },
  },
  SubscriptionInvoice: { notSupported: { transactionId: 'payments that are applied by hand' } },
  SubscriptionOrOneTimeSaleItem: { notReturned: { '_embedded.product': NO_ITEM_EXPANSION } },
  SubscriptionPlan: {
    notSupported: {
      productOptions: NO_OPTIONS,
      meteredBilling: 'metered billing',
      'recurringInterval.periodAnchorInstruction.time': NO_TIME_OF_ANCHORS,
    },
  },
  Transaction: {
    notSupported: {
      gatewayAccountId: 'a gateway account that a caller chooses: currency, brand and priority decide',
      billingDescriptor: 'a descriptor for each sale: that of the gateway account is used',
      notificationUrl: 'notifications to a URL: use webhooks',
      referenceData: NO_REFERENCE_DATA,
    },
  },
  ResetPasswordToken: {
    notSupported: { expiredTime: 'a lifetime for each password token: resetTokenTtl applies' },
  },
  ShippingRate: { notSupported: { filter: 'rates for some orders only' } },
  TransactionTimeline: {
    notReturned: {
      'extraData.author': NO_AUTHOR,
      'extraData.links.externalUrl': NO_PLACEHOLDERS,
      'extraData.links.placeholder': NO_PLACEHOLDERS,
    },
  },
  TrialOnlyPlan: { notSupported: { productOptions: NO_OPTIONS } },
  UpcomingInvoice: {
    notReturned: {
      createdTime: NOT_STORED,
      updatedTime: NOT_STORED,
      'items.id': NOT_STORED,
      'items._embedded': NO_ITEM_EXPANSION,
    },
  },
  Website: {
    notSupported: { settings: 'payment forms and their settings', logoId: 'files' },
    notReturned: {
      'settings.amplitude': 'payment forms and their settings',
      'settings.depositForm': 'payment forms and their settings',
      'settings.paymentForm': 'payment forms and their settings',
      'settings.payoutRequest': NO_PAYOUTS,
    },
  },
}
