/** Generated once, facts only: the other side of the contract, never derived from the service's schemas. */
import Type, { type Static, type TSchema } from 'typebox'

const OrNull = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
/** An enumeration of which only a part is known. */
const OpenEnum = (values: readonly string[]) => Type.Unsafe<string>({ type: 'string', examples: values })

export const ResourceCustomFields = Type.Record(Type.String(), Type.Any())
export type ResourceCustomFields = Static<typeof ResourceCustomFields>

export const ContactPhoneNumbers = Type.Array(
  Type.Object({ label: Type.String(), value: Type.String(), primary: Type.Optional(Type.Boolean()) }),
)
export type ContactPhoneNumbers = Static<typeof ContactPhoneNumbers>

export const ContactEmails = Type.Array(
  Type.Object({ label: Type.String(), value: Type.String(), primary: Type.Optional(Type.Boolean()) }),
)
export type ContactEmails = Static<typeof ContactEmails>

export const ContactObject = Type.Object(
  {
    firstName: Type.Optional(OrNull(Type.String())),
    lastName: Type.Optional(OrNull(Type.String())),
    organization: Type.Optional(OrNull(Type.String())),
    address: Type.Optional(OrNull(Type.String())),
    address2: Type.Optional(OrNull(Type.String())),
    city: Type.Optional(OrNull(Type.String())),
    region: Type.Optional(OrNull(Type.String())),
    country: Type.Optional(OrNull(Type.String())),
    postalCode: Type.Optional(OrNull(Type.String())),
    phoneNumbers: Type.Optional(ContactPhoneNumbers),
    emails: Type.Optional(ContactEmails),
    dob: Type.Optional(OrNull(Type.String())),
    jobTitle: Type.Optional(OrNull(Type.String())),
    hash: Type.Optional(Type.String()),
  },
  { title: 'ContactObject' },
)
export type ContactObject = Static<typeof ContactObject>

export const Link = Type.Object({ href: Type.String(), rel: Type.String() }, { title: 'Link' })
export type Link = Static<typeof Link>

export const Company = OrNull(
  Type.Object({
    name: Type.Optional(OrNull(Type.String())),
    domain: Type.Optional(Type.String()),
    yearFounded: Type.Optional(OrNull(Type.Number())),
    industry: Type.Optional(OrNull(Type.String())),
    employeesCount: Type.Optional(OrNull(Type.Number())),
    country: Type.Optional(OrNull(Type.String())),
    locality: Type.Optional(OrNull(Type.String())),
    _links: Type.Optional(Type.Array(Link)),
  }),
)
export type Company = Static<typeof Company>

export const CustomerAverageValue = Type.Object(
  {
    currency: Type.Optional(Type.String()),
    amount: Type.Optional(Type.Number()),
    amountUsd: Type.Optional(Type.Number()),
  },
  { title: 'CustomerAverageValue' },
)
export type CustomerAverageValue = Static<typeof CustomerAverageValue>

export const CustomerLifetimeRevenue = Type.Object(
  {
    currency: Type.Optional(Type.String()),
    amount: Type.Optional(Type.Number()),
    amountUsd: Type.Optional(Type.Number()),
  },
  { title: 'CustomerLifetimeRevenue' },
)
export type CustomerLifetimeRevenue = Static<typeof CustomerLifetimeRevenue>

export const Tag = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String(),
    type: Type.Enum(['customer', 'kyc-document', 'aml-check']),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'Tag' },
)
export type Tag = Static<typeof Tag>

export const TaxNumber = Type.Object(
  {
    type: Type.Enum(['eu-vat', 'other']),
    value: Type.String(),
    isDefault: Type.Optional(Type.Boolean()),
    isValid: Type.Optional(OrNull(Type.Boolean())),
  },
  { title: 'TaxNumber' },
)
export type TaxNumber = Static<typeof TaxNumber>

export const LeadSourceData = Type.Object(
  {
    medium: Type.Optional(OrNull(Type.String())),
    source: Type.Optional(OrNull(Type.String())),
    campaign: Type.Optional(OrNull(Type.String())),
    term: Type.Optional(OrNull(Type.String())),
    content: Type.Optional(OrNull(Type.String())),
    affiliate: Type.Optional(OrNull(Type.String())),
    subAffiliate: Type.Optional(OrNull(Type.String())),
    salesAgent: Type.Optional(OrNull(Type.String())),
    clickId: Type.Optional(OrNull(Type.String())),
    path: Type.Optional(OrNull(Type.String())),
    referrer: Type.Optional(OrNull(Type.String())),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'LeadSourceData' },
)
export type LeadSourceData = Static<typeof LeadSourceData>

export const Customer = Type.Object(
  {
    id: Type.Optional(Type.String()),
    email: Type.Optional(OrNull(Type.String())),
    firstName: Type.Optional(OrNull(Type.String())),
    lastName: Type.Optional(OrNull(Type.String())),
    websiteId: Type.Optional(Type.String()),
    paymentToken: Type.Optional(Type.String()),
    defaultPaymentInstrument: Type.Optional(
      OrNull(Type.Object({ method: Type.String(), paymentInstrumentId: Type.String() })),
    ),
    defaultPaymentInstrumentId: Type.Optional(OrNull(Type.String())),
    preferredPayoutInstrumentId: Type.Optional(OrNull(Type.String())),
    customFields: Type.Optional(ResourceCustomFields),
    primaryAddress: Type.Optional(OrNull(ContactObject)),
    company: Type.Optional(Company),
    averageValue: Type.Optional(CustomerAverageValue),
    paymentCount: Type.Optional(Type.Number()),
    lastPaymentTime: Type.Optional(OrNull(Type.String())),
    lifetimeRevenue: Type.Optional(CustomerLifetimeRevenue),
    invoiceCount: Type.Optional(Type.Number()),
    tags: Type.Optional(Type.Array(Tag)),
    revision: Type.Optional(Type.Number()),
    hasFulfilledKyc: Type.Optional(Type.Boolean()),
    organizationId: Type.Optional(Type.String()),
    locale: Type.Optional(OrNull(Type.String())),
    taxNumbers: Type.Optional(OrNull(Type.Array(TaxNumber))),
    leadSource: Type.Optional(LeadSourceData),
    personId: Type.Optional(OrNull(Type.String())),
    notificationEmails: Type.Optional(Type.Array(Type.String())),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({
        defaultPaymentInstrument: Type.Optional(Type.Record(Type.String(), Type.Any())),
        website: Type.Optional(Type.Record(Type.String(), Type.Any())),
        leadSource: Type.Optional(Type.Record(Type.String(), Type.Any())),
      }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'Customer' },
)
export type Customer = Static<typeof Customer>

export const LeadSource = Type.Intersect([
  LeadSourceData,
  Type.Object({ original: Type.Optional(LeadSourceData) }),
])
export type LeadSource = Static<typeof LeadSource>

export const RedemptionCancelTimelineAction = Type.Object(
  { action: Type.Optional(Type.Enum(['redemption-cancel'])), redemptionId: Type.Optional(Type.String()) },
  { title: 'RedemptionCancelTimelineAction' },
)
export type RedemptionCancelTimelineAction = Static<typeof RedemptionCancelTimelineAction>

export const ResendEmailTimelineAction = Type.Object(
  { action: Type.Optional(Type.Enum(['resend-email'])), messageId: Type.Optional(Type.String()) },
  { title: 'ResendEmailTimelineAction' },
)
export type ResendEmailTimelineAction = Static<typeof ResendEmailTimelineAction>

export const RulesetRestoreTimelineAction = Type.Object(
  { action: Type.Optional(Type.Enum(['ruleset-restore'])), version: Type.Optional(Type.Number()) },
  { title: 'RulesetRestoreTimelineAction' },
)
export type RulesetRestoreTimelineAction = Static<typeof RulesetRestoreTimelineAction>

export const TimelineAction = Type.Union([
  RedemptionCancelTimelineAction,
  ResendEmailTimelineAction,
  RulesetRestoreTimelineAction,
])
export type TimelineAction = Static<typeof TimelineAction>

export const TimelineTable = Type.Object(
  {
    type: Type.Optional(Type.Enum(['list', 'one-columns', 'two-columns', 'three-columns'])),
    title: Type.Optional(Type.String()),
    footer: Type.Optional(Type.String()),
  },
  { title: 'TimelineTable' },
)
export type TimelineTable = Static<typeof TimelineTable>

export const TimelineExtraData = Type.Object(
  {
    actions: Type.Optional(Type.Array(TimelineAction)),
    tables: Type.Optional(Type.Array(TimelineTable)),
    author: Type.Optional(
      Type.Object({ userFullName: Type.Optional(Type.String()), userId: Type.Optional(Type.String()) }),
    ),
    mentions: Type.Optional(Type.Record(Type.String(), Type.String())),
    links: Type.Optional(
      Type.Array(
        Type.Object({
          resourceType: Type.Optional(
            Type.Enum([
              'kyc-document',
              'invoice',
              'subscription',
              'transaction',
              'email-message',
              'dispute',
              'coupon',
              'external',
            ]),
          ),
          resourceId: Type.Optional(Type.String()),
          placeholder: Type.Optional(Type.String()),
          externalUrl: Type.Optional(Type.String()),
        }),
      ),
    ),
  },
  { title: 'TimelineExtraData' },
)
export type TimelineExtraData = Static<typeof TimelineExtraData>

export const CustomerTimeline = Type.Object(
  {
    id: Type.Optional(Type.String()),
    type: Type.Optional(
      OpenEnum([
        'account-password-reset-requested',
        'account-verification-requested',
        'aml-list-was-possibly-matched',
        'deposit-request-completed',
        'deposit-request-created',
        'deposit-request-expired',
        'deposit-request-started',
        'coupon-applied',
        'coupon-redeemed',
        'coupon-redemption-canceled',
        'custom-event',
        'custom-event-processed',
      ]),
    ),
    customEventType: Type.Optional(OrNull(Type.String())),
    customData: Type.Optional(Type.Record(Type.String(), Type.Any())),
    triggeredBy: Type.Optional(Type.Enum(['rebilly-side', 'app', 'direct-api'])),
    message: Type.Optional(Type.String()),
    extraData: Type.Optional(TimelineExtraData),
    occurredTime: Type.Optional(Type.String()),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'CustomerTimeline' },
)
export type CustomerTimeline = Static<typeof CustomerTimeline>

export const CustomerCreditBalance = Type.Object(
  { balances: Type.Array(Type.Object({ currency: Type.String(), unallocatedAmount: Type.Number() })) },
  { title: 'CustomerCreditBalance' },
)
export type CustomerCreditBalance = Static<typeof CustomerCreditBalance>

export const AuthenticationOptions = Type.Object(
  {
    passwordPattern: Type.Optional(OrNull(Type.String())),
    credentialTtl: Type.Optional(Type.Number()),
    authTokenTtl: Type.Optional(Type.Number()),
    resetTokenTtl: Type.Optional(Type.Number()),
    otpRequired: Type.Optional(Type.Boolean()),
  },
  { title: 'AuthenticationOptions' },
)
export type AuthenticationOptions = Static<typeof AuthenticationOptions>

export const AuthenticationTokenResponse = Type.Object(
  {
    username: Type.String(),
    customerId: Type.Optional(Type.String()),
    token: Type.Optional(Type.String()),
    otpRequired: Type.Optional(Type.Boolean()),
    credentialId: Type.Optional(Type.String()),
    expiredTime: Type.Optional(OrNull(Type.String())),
  },
  { title: 'AuthenticationTokenResponse' },
)
export type AuthenticationTokenResponse = Static<typeof AuthenticationTokenResponse>

export const AuthenticationTokenPasswordMode = Type.Object(
  {
    username: Type.String(),
    password: Type.String(),
    mode: Type.Optional(Type.Enum(['password'])),
    customerId: Type.Optional(Type.String()),
    token: Type.Optional(Type.String()),
    otpRequired: Type.Optional(Type.Boolean()),
    credentialId: Type.Optional(Type.String()),
    expiredTime: Type.Optional(Type.String()),
  },
  { title: 'AuthenticationTokenPasswordMode' },
)
export type AuthenticationTokenPasswordMode = Static<typeof AuthenticationTokenPasswordMode>

export const AuthenticationTokenPasswordlessMode = Type.Object(
  {
    customerId: Type.String(),
    mode: Type.Optional(Type.Enum(['passwordless'])),
    token: Type.Optional(Type.String()),
    otpRequired: Type.Optional(Type.Boolean()),
    credentialId: Type.Optional(Type.String()),
    expiredTime: Type.Optional(Type.String()),
  },
  { title: 'AuthenticationTokenPasswordlessMode' },
)
export type AuthenticationTokenPasswordlessMode = Static<typeof AuthenticationTokenPasswordlessMode>

export const ApiKeyScope = Type.Object(
  {
    organizationId: Type.Optional(Type.Array(Type.String())),
    productId: Type.Optional(Type.Array(Type.String())),
    planId: Type.Optional(Type.Array(Type.String())),
    customFieldName: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'ApiKeyScope' },
)
export type ApiKeyScope = Static<typeof ApiKeyScope>

export const AclPermissions = Type.Array(Type.String())
export type AclPermissions = Static<typeof AclPermissions>

export const Acl = Type.Array(Type.Object({ scope: ApiKeyScope, permissions: AclPermissions }))
export type Acl = Static<typeof Acl>

export const CustomerJWT = Type.Object(
  {
    id: Type.Optional(Type.String()),
    type: Type.Optional(Type.Enum(['customer'])),
    token: Type.Optional(Type.String()),
    invalidate: Type.Optional(Type.Boolean()),
    oneTimePassword: Type.Optional(Type.String()),
    customerId: Type.Optional(Type.String()),
    acl: Type.Optional(Acl),
    customClaims: Type.Optional(Type.Record(Type.String(), Type.Any())),
    expiredTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'CustomerJWT' },
)
export type CustomerJWT = Static<typeof CustomerJWT>

export const CustomerCredential = Type.Object(
  {
    id: Type.Optional(Type.String()),
    username: Type.String(),
    password: Type.String(),
    customerId: Type.String(),
    expiredTime: Type.Optional(OrNull(Type.String())),
    _links: Type.Optional(Type.Array(Link)),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'CustomerCredential' },
)
export type CustomerCredential = Static<typeof CustomerCredential>

export const ResetPasswordToken = Type.Object(
  {
    token: Type.Optional(Type.String()),
    username: Type.String(),
    credentialId: Type.Optional(Type.String()),
    expiredTime: Type.Optional(OrNull(Type.String())),
  },
  { title: 'ResetPasswordToken' },
)
export type ResetPasswordToken = Static<typeof ResetPasswordToken>

export const Website = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String(),
    url: Type.String(),
    servicePhone: Type.String(),
    serviceEmail: Type.String(),
    customFields: Type.Optional(ResourceCustomFields),
    settings: Type.Optional(
      Type.Object({
        depositForm: Type.Optional(
          Type.Object({
            theme: Type.Optional(
              OrNull(
                Type.Object({
                  colorPrimary: Type.Optional(OrNull(Type.String())),
                  colorSecondary: Type.Optional(OrNull(Type.String())),
                  buttonTemplate: Type.Optional(OrNull(Type.String())),
                }),
              ),
            ),
          }),
        ),
        paymentForm: Type.Optional(
          Type.Object({
            css: Type.Optional(OrNull(Type.String())),
            theme: Type.Optional(OrNull(Type.Record(Type.String(), Type.String()))),
            features: Type.Optional(
              OrNull(
                Type.Object({
                  showCoupons: Type.Optional(OrNull(Type.Array(Type.String()))),
                  fullPageRedirect: Type.Optional(OrNull(Type.Boolean())),
                  skipRedirectOnPaymentComplete: Type.Optional(OrNull(Type.Boolean())),
                  hideZeroAmountSummaryItems: Type.Optional(OrNull(Type.Boolean())),
                }),
              ),
            ),
          }),
        ),
        amplitude: Type.Optional(
          Type.Object({
            tracking: Type.Optional(Type.Boolean()),
            apiKey: Type.Optional(OrNull(Type.String())),
          }),
        ),
        payoutRequest: Type.Optional(
          Type.Object({
            automaticReadinessEnabled: Type.Optional(Type.Boolean()),
            pendingPeriodHours: Type.Optional(Type.Number()),
            automaticReadinessTime: Type.Optional(Type.String()),
            automaticReadinessLastExecutedAt: Type.Optional(OrNull(Type.String())),
          }),
        ),
      }),
    ),
    logoId: Type.Optional(OrNull(Type.String())),
    logoUrl: Type.Optional(OrNull(Type.String())),
    organizationId: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'Website' },
)
export type Website = Static<typeof Website>

export const Product = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String(),
    unitLabel: Type.Optional(Type.String()),
    description: Type.Optional(OrNull(Type.String())),
    requiresShipping: Type.Optional(Type.Boolean()),
    options: Type.Optional(Type.Array(Type.String())),
    taxCategoryId: Type.Optional(OrNull(Type.String())),
    accountingCode: Type.Optional(OrNull(Type.String())),
    recognition: Type.Optional(
      OrNull(
        Type.Object({
          debitAccountId: Type.Optional(OrNull(Type.String())),
          creditAccountId: Type.Optional(OrNull(Type.String())),
        }),
      ),
    ),
    customFields: Type.Optional(ResourceCustomFields),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'Product' },
)
export type Product = Static<typeof Product>

export const PlanFormulaFixedFee = Type.Object(
  { formula: Type.Enum(['fixed-fee']), price: Type.Number() },
  { title: 'PlanFormulaFixedFee' },
)
export type PlanFormulaFixedFee = Static<typeof PlanFormulaFixedFee>

export const PlanFormulaFlatRate = Type.Object(
  {
    formula: Type.Enum(['flat-rate']),
    price: Type.Number(),
    minQuantity: Type.Optional(OrNull(Type.Number())),
    maxQuantity: Type.Optional(OrNull(Type.Number())),
  },
  { title: 'PlanFormulaFlatRate' },
)
export type PlanFormulaFlatRate = Static<typeof PlanFormulaFlatRate>

export const PlanFormulaStairstep = Type.Object(
  {
    formula: Type.Enum(['stairstep']),
    brackets: Type.Array(
      Type.Object({ price: Type.Optional(Type.Number()), maxQuantity: Type.Optional(OrNull(Type.Number())) }),
    ),
    minQuantity: Type.Optional(OrNull(Type.Number())),
  },
  { title: 'PlanFormulaStairstep' },
)
export type PlanFormulaStairstep = Static<typeof PlanFormulaStairstep>

export const PlanFormulaTiered = Type.Object(
  {
    formula: Type.Enum(['tiered']),
    brackets: Type.Array(
      Type.Object({ price: Type.Optional(Type.Number()), maxQuantity: Type.Optional(OrNull(Type.Number())) }),
    ),
    minQuantity: Type.Optional(OrNull(Type.Number())),
  },
  { title: 'PlanFormulaTiered' },
)
export type PlanFormulaTiered = Static<typeof PlanFormulaTiered>

export const PlanFormulaVolume = Type.Object(
  {
    formula: Type.Enum(['volume']),
    brackets: Type.Array(
      Type.Object({ price: Type.Optional(Type.Number()), maxQuantity: Type.Optional(OrNull(Type.Number())) }),
    ),
    minQuantity: Type.Optional(OrNull(Type.Number())),
  },
  { title: 'PlanFormulaVolume' },
)
export type PlanFormulaVolume = Static<typeof PlanFormulaVolume>

export const PlanPriceFormula = Type.Union([
  PlanFormulaFixedFee,
  PlanFormulaFlatRate,
  PlanFormulaStairstep,
  PlanFormulaTiered,
  PlanFormulaVolume,
])
export type PlanPriceFormula = Static<typeof PlanPriceFormula>

export const PlanSetup = OrNull(Type.Object({ price: Type.Number() }))
export type PlanSetup = Static<typeof PlanSetup>

export const OneTimeSalePlan = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    richDescription: Type.Optional(Type.String()),
    productId: Type.String(),
    productOptions: Type.Optional(OrNull(Type.Record(Type.String(), Type.String()))),
    currency: Type.String(),
    currencySign: Type.Optional(Type.String()),
    pricing: PlanPriceFormula,
    setup: Type.Optional(PlanSetup),
    customFields: Type.Optional(ResourceCustomFields),
    isActive: Type.Optional(Type.Boolean()),
    revision: Type.Optional(Type.Number()),
    isTrialOnly: Type.Optional(Type.Boolean()),
    recurringInterval: Type.Optional(Type.Record(Type.String(), Type.Any())),
    trial: Type.Optional(Type.Record(Type.String(), Type.Any())),
    _links: Type.Optional(Type.Array(Link)),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'OneTimeSalePlan' },
)
export type OneTimeSalePlan = Static<typeof OneTimeSalePlan>

export const SchedulingMethodDayOfMonth = Type.Object(
  { method: Type.Enum(['day-of-month']), day: Type.Number(), time: Type.Optional(Type.String()) },
  { title: 'SchedulingMethodDayOfMonth' },
)
export type SchedulingMethodDayOfMonth = Static<typeof SchedulingMethodDayOfMonth>

export const SchedulingMethodDayOfWeek = Type.Object(
  {
    method: Type.Enum(['day-of-week']),
    day: Type.Enum(['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']),
    week: Type.Enum(['next', 'first-in-month', 'last-in-month']),
    time: Type.Optional(Type.String()),
  },
  { title: 'SchedulingMethodDayOfWeek' },
)
export type SchedulingMethodDayOfWeek = Static<typeof SchedulingMethodDayOfWeek>

export const SchedulingMethodDayAndMonthOfYear = Type.Object(
  {
    method: Type.Enum(['day-and-month-of-year']),
    day: Type.Number(),
    month: Type.Number(),
    time: Type.Optional(Type.String()),
  },
  { title: 'SchedulingMethodDayAndMonthOfYear' },
)
export type SchedulingMethodDayAndMonthOfYear = Static<typeof SchedulingMethodDayAndMonthOfYear>

export const ServicePeriodAnchorInstruction = OrNull(
  Type.Union([SchedulingMethodDayOfMonth, SchedulingMethodDayOfWeek, SchedulingMethodDayAndMonthOfYear]),
)
export type ServicePeriodAnchorInstruction = Static<typeof ServicePeriodAnchorInstruction>

export const PlanTrial = OrNull(
  Type.Object({
    price: Type.Number(),
    period: Type.Object({ unit: Type.Enum(['day', 'week', 'month', 'year']), length: Type.Number() }),
  }),
)
export type PlanTrial = Static<typeof PlanTrial>

export const InvoiceTimeShift = OrNull(
  Type.Object({
    issueTimeShift: Type.Optional(
      Type.Object({
        chronology: Type.Enum(['before']),
        duration: Type.Number(),
        unit: Type.Enum([
          'second',
          'minute',
          'hour',
          'day',
          'month',
          'year',
          'seconds',
          'minutes',
          'hours',
          'days',
          'months',
          'years',
        ]),
      }),
    ),
    dueTimeShift: Type.Optional(
      Type.Object({
        duration: Type.Number(),
        unit: Type.Enum([
          'second',
          'minute',
          'hour',
          'day',
          'month',
          'year',
          'seconds',
          'minutes',
          'hours',
          'days',
          'months',
          'years',
        ]),
      }),
    ),
  }),
)
export type InvoiceTimeShift = Static<typeof InvoiceTimeShift>

export const SubscriptionPlan = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    richDescription: Type.Optional(Type.String()),
    productId: Type.String(),
    productOptions: Type.Optional(OrNull(Type.Record(Type.String(), Type.String()))),
    currency: Type.String(),
    currencySign: Type.Optional(Type.String()),
    pricing: PlanPriceFormula,
    setup: Type.Optional(PlanSetup),
    customFields: Type.Optional(ResourceCustomFields),
    isActive: Type.Optional(Type.Boolean()),
    revision: Type.Optional(Type.Number()),
    isTrialOnly: Type.Optional(Type.Boolean()),
    recurringInterval: Type.Object({
      periodAnchorInstruction: Type.Optional(ServicePeriodAnchorInstruction),
      unit: Type.Enum(['day', 'week', 'month', 'year']),
      length: Type.Number(),
      limit: Type.Optional(OrNull(Type.Number())),
      billingTiming: Type.Optional(Type.Enum(['prepaid', 'postpaid'])),
    }),
    trial: Type.Optional(PlanTrial),
    meteredBilling: Type.Optional(
      OrNull(
        Type.Object({
          strategy: Type.Enum(['sum', 'last']),
          min: Type.Optional(OrNull(Type.Number())),
          max: Type.Optional(OrNull(Type.Number())),
          sticky: Type.Optional(Type.Boolean()),
        }),
      ),
    ),
    invoiceTimeShift: Type.Optional(InvoiceTimeShift),
    _links: Type.Optional(Type.Array(Link)),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'SubscriptionPlan' },
)
export type SubscriptionPlan = Static<typeof SubscriptionPlan>

export const TrialOnlyPlan = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    richDescription: Type.Optional(Type.String()),
    productId: Type.String(),
    productOptions: Type.Optional(OrNull(Type.Record(Type.String(), Type.String()))),
    currency: Type.String(),
    currencySign: Type.Optional(Type.String()),
    setup: Type.Optional(PlanSetup),
    customFields: Type.Optional(ResourceCustomFields),
    isActive: Type.Optional(Type.Boolean()),
    revision: Type.Optional(Type.Number()),
    isTrialOnly: Type.Optional(Type.Boolean()),
    recurringInterval: Type.Optional(Type.Record(Type.String(), Type.Any())),
    trial: PlanTrial,
    invoiceTimeShift: Type.Optional(InvoiceTimeShift),
    _links: Type.Optional(Type.Array(Link)),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'TrialOnlyPlan' },
)
export type TrialOnlyPlan = Static<typeof TrialOnlyPlan>

export const OriginalPlan = Type.Object({ id: Type.String() }, { title: 'OriginalPlan' })
export type OriginalPlan = Static<typeof OriginalPlan>

export const FlexiblePlan = Type.Union([
  Type.Intersect([Type.Object({ id: Type.String() }), OneTimeSalePlan]),
  Type.Intersect([Type.Object({ id: Type.String() }), SubscriptionPlan]),
  Type.Intersect([Type.Object({ id: Type.String() }), TrialOnlyPlan]),
])
export type FlexiblePlan = Static<typeof FlexiblePlan>

export const UsageLimits = Type.Object(
  {
    softLimit: Type.Optional(
      Type.Object({ quantity: Type.Optional(Type.Number()), amount: Type.Optional(Type.Number()) }),
    ),
    hardLimit: Type.Optional(
      Type.Object({ quantity: Type.Optional(Type.Number()), amount: Type.Optional(Type.Number()) }),
    ),
    trialLimit: Type.Optional(OrNull(Type.Number())),
  },
  { title: 'UsageLimits' },
)
export type UsageLimits = Static<typeof UsageLimits>

export const UsageStatus = Type.Object(
  {
    isSoftLimitReached: Type.Optional(Type.Boolean()),
    isHardLimitReached: Type.Optional(Type.Boolean()),
    isTrialLimitReached: Type.Optional(Type.Boolean()),
  },
  { title: 'UsageStatus' },
)
export type UsageStatus = Static<typeof UsageStatus>

export const SubscriptionOrOneTimeSaleItem = Type.Object(
  {
    id: Type.Optional(Type.String()),
    planId: Type.Optional(Type.String()),
    quantity: Type.Optional(Type.Number()),
    quantityFilled: Type.Optional(Type.Number()),
    plan: Type.Union([OriginalPlan, FlexiblePlan]),
    usageLimits: Type.Optional(OrNull(UsageLimits)),
    usageStatus: Type.Optional(OrNull(UsageStatus)),
    revision: Type.Optional(Type.Number()),
    isModified: Type.Optional(Type.Boolean()),
    isGrandfathered: Type.Optional(Type.Boolean()),
    excludeFromMrr: Type.Optional(Type.Boolean()),
    _embedded: Type.Optional(Type.Object({ product: Type.Optional(Type.Record(Type.String(), Type.Any())) })),
  },
  { title: 'SubscriptionOrOneTimeSaleItem' },
)
export type SubscriptionOrOneTimeSaleItem = Static<typeof SubscriptionOrOneTimeSaleItem>

export const ManualShipping = Type.Object(
  { amount: Type.Number(), calculator: Type.Enum(['manual']) },
  { title: 'ManualShipping' },
)
export type ManualShipping = Static<typeof ManualShipping>

export const Shipping = Type.Union([ManualShipping, Type.Record(Type.String(), Type.Any())])
export type Shipping = Static<typeof Shipping>

export const HttpHeaders = Type.Record(Type.String(), Type.String())
export type HttpHeaders = Static<typeof HttpHeaders>

export const RiskMetadata = Type.Object(
  {
    ipAddress: Type.Optional(OrNull(Type.String())),
    fingerprint: Type.Optional(OrNull(Type.String())),
    httpHeaders: Type.Optional(OrNull(HttpHeaders)),
    browserData: Type.Optional(
      OrNull(
        Type.Object({
          colorDepth: Type.Number(),
          isJavaEnabled: Type.Boolean(),
          language: Type.String(),
          screenWidth: Type.Number(),
          screenHeight: Type.Number(),
          timeZoneOffset: Type.Number(),
          isAdBlockEnabled: Type.Optional(Type.Boolean()),
        }),
      ),
    ),
    extraData: Type.Optional(
      OrNull(
        Type.Object({
          kountFraudSessionId: Type.Optional(Type.String()),
          payPalMerchantSessionId: Type.Optional(Type.String()),
          threatMetrixSessionId: Type.Optional(Type.String()),
        }),
      ),
    ),
    isProxy: Type.Optional(Type.Boolean()),
    isVpn: Type.Optional(Type.Boolean()),
    isTor: Type.Optional(Type.Boolean()),
    isHosting: Type.Optional(Type.Boolean()),
    hostingName: Type.Optional(OrNull(Type.String())),
    isp: Type.Optional(OrNull(Type.String())),
    country: Type.Optional(OrNull(Type.String())),
    region: Type.Optional(OrNull(Type.String())),
    city: Type.Optional(OrNull(Type.String())),
    latitude: Type.Optional(Type.Number()),
    longitude: Type.Optional(OrNull(Type.Number())),
    postalCode: Type.Optional(OrNull(Type.String())),
    timeZone: Type.Optional(OrNull(Type.String())),
    accuracyRadius: Type.Optional(OrNull(Type.Number())),
    distance: Type.Optional(OrNull(Type.Number())),
    hasMismatchedBillingAddressCountry: Type.Optional(Type.Boolean()),
    hasMismatchedBankCountry: Type.Optional(Type.Boolean()),
    hasMismatchedTimeZone: Type.Optional(Type.Boolean()),
    hasMismatchedHolderName: Type.Optional(Type.Boolean()),
    hasFakeName: Type.Optional(Type.Boolean()),
    isHighRiskCountry: Type.Optional(Type.Boolean()),
    paymentInstrumentVelocity: Type.Optional(Type.Number()),
    declinedPaymentInstrumentVelocity: Type.Optional(Type.Number()),
    deviceVelocity: Type.Optional(Type.Number()),
    ipVelocity: Type.Optional(Type.Number()),
    emailVelocity: Type.Optional(Type.Number()),
    billingAddressVelocity: Type.Optional(Type.Number()),
    paymentInstrumentApprovedTransactionCount: Type.Optional(Type.Number()),
    score: Type.Optional(Type.Number()),
  },
  { title: 'RiskMetadata' },
)
export type RiskMetadata = Static<typeof RiskMetadata>

export const Subscription = Type.Object(
  {
    id: Type.Optional(Type.String()),
    orderType: Type.Enum(['subscription-order']),
    customerId: Type.String(),
    renewalReminderTime: Type.Optional(OrNull(Type.String())),
    renewalReminderNumber: Type.Optional(OrNull(Type.Number())),
    abandonReminderTime: Type.Optional(OrNull(Type.String())),
    abandonReminderNumber: Type.Optional(OrNull(Type.Number())),
    organizationId: Type.Optional(Type.String()),
    status: Type.Optional(
      Type.Enum([
        'pending',
        'active',
        'abandoned',
        'canceled',
        'churned',
        'paused',
        'voided',
        'completed',
        'trial-ended',
      ]),
    ),
    inTrial: Type.Optional(Type.Boolean()),
    trial: Type.Optional(
      Type.Object({ enabled: Type.Optional(Type.Boolean()), endTime: Type.Optional(OrNull(Type.String())) }),
    ),
    isTrialOnly: Type.Optional(Type.Boolean()),
    trialConversionTime: Type.Optional(OrNull(Type.String())),
    invoiceTimeShift: Type.Optional(InvoiceTimeShift),
    recurringInterval: Type.Optional(
      OrNull(Type.Object({ periodAnchorInstruction: Type.Optional(ServicePeriodAnchorInstruction) })),
    ),
    autopay: Type.Optional(Type.Boolean()),
    startTime: Type.Optional(OrNull(Type.String())),
    churnTime: Type.Optional(OrNull(Type.String())),
    renewalTime: Type.Optional(OrNull(Type.String())),
    currentPeriodStart: Type.Optional(Type.String()),
    currentPeriodEnd: Type.Optional(Type.String()),
    rebillNumber: Type.Optional(OrNull(Type.Number())),
    lineItems: Type.Optional(
      Type.Array(
        Type.Object({
          type: Type.Optional(Type.Enum(['debit', 'credit'])),
          description: Type.Optional(Type.String()),
          unitPriceAmount: Type.Optional(Type.Number()),
          unitPriceCurrency: Type.Optional(Type.String()),
          quantity: Type.Optional(Type.Number()),
          periodStartTime: Type.Optional(Type.String()),
          periodEndTime: Type.Optional(Type.String()),
        }),
      ),
    ),
    lineItemSubtotal: Type.Optional(
      Type.Object({ currency: Type.Optional(Type.String()), amount: Type.Optional(Type.Number()) }),
    ),
    mrr: Type.Optional(Type.Number()),
    paymentInstrumentId: Type.Optional(OrNull(Type.String())),
    billingStatus: Type.Optional(
      Type.Enum([
        'draft',
        'unpaid',
        'past-due',
        'abandoned',
        'paid',
        'voided',
        'refunded',
        'disputed',
        'partially-refunded',
        'partially-paid',
      ]),
    ),
    websiteId: Type.String(),
    currency: Type.Optional(Type.String()),
    initialInvoiceId: Type.Optional(OrNull(Type.String())),
    recentInvoiceId: Type.Optional(OrNull(Type.String())),
    items: Type.Array(SubscriptionOrOneTimeSaleItem),
    deliveryAddress: Type.Optional(OrNull(ContactObject)),
    billingAddress: Type.Optional(OrNull(ContactObject)),
    activationTime: Type.Optional(OrNull(Type.String())),
    voidTime: Type.Optional(OrNull(Type.String())),
    abandonTime: Type.Optional(OrNull(Type.String())),
    delinquencyPeriod: Type.Optional(OrNull(Type.String())),
    couponIds: Type.Optional(OrNull(Type.Array(Type.String()))),
    poNumber: Type.Optional(OrNull(Type.String())),
    shipping: Type.Optional(Shipping),
    notes: Type.Optional(Type.String()),
    canceledTime: Type.Optional(OrNull(Type.String())),
    canceledBy: Type.Optional(OrNull(Type.Enum(['merchant', 'customer', 'rebilly-side']))),
    cancelCategory: Type.Optional(
      OrNull(
        Type.Enum([
          'billing-failure',
          'delinquency',
          'did-not-use',
          'did-not-want',
          'missing-features',
          'bugs-or-problems',
          'do-not-remember',
          'risk-warning',
          'contract-expired',
          'too-expensive',
          'never-started',
          'switched-plan',
          'organization-deactivated',
          'other',
        ]),
      ),
    ),
    cancelDescription: Type.Optional(OrNull(Type.String())),
    revision: Type.Optional(Type.Number()),
    riskMetadata: Type.Optional(OrNull(RiskMetadata)),
    billingPortalToken: Type.Optional(OrNull(Type.String())),
    customFields: Type.Optional(ResourceCustomFields),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({
        recentInvoice: Type.Optional(Type.Record(Type.String(), Type.Any())),
        initialInvoice: Type.Optional(Type.Record(Type.String(), Type.Any())),
        customer: Type.Optional(Type.Record(Type.String(), Type.Any())),
        website: Type.Optional(Type.Record(Type.String(), Type.Any())),
        leadSource: Type.Optional(Type.Record(Type.String(), Type.Any())),
        shippingRate: Type.Optional(Type.Record(Type.String(), Type.Any())),
        paymentInstrument: Type.Optional(Type.Record(Type.String(), Type.Any())),
        upcomingInvoice: Type.Optional(Type.Record(Type.String(), Type.Any())),
      }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'Subscription' },
)
export type Subscription = Static<typeof Subscription>

export const OneTimeSale = Type.Object(
  {
    id: Type.Optional(Type.String()),
    orderType: Type.Enum(['one-time-order']),
    customerId: Type.String(),
    organizationId: Type.Optional(Type.String()),
    status: Type.Optional(Type.Enum(['pending', 'abandoned', 'completed', 'canceled'])),
    billingStatus: Type.Optional(
      Type.Enum([
        'draft',
        'unpaid',
        'past-due',
        'abandoned',
        'paid',
        'voided',
        'refunded',
        'disputed',
        'partially-refunded',
        'partially-paid',
      ]),
    ),
    websiteId: Type.String(),
    currency: Type.Optional(Type.String()),
    initialInvoiceId: Type.Optional(OrNull(Type.String())),
    recentInvoiceId: Type.Optional(OrNull(Type.String())),
    items: Type.Array(SubscriptionOrOneTimeSaleItem),
    deliveryAddress: Type.Optional(OrNull(ContactObject)),
    billingAddress: Type.Optional(OrNull(ContactObject)),
    activationTime: Type.Optional(OrNull(Type.String())),
    voidTime: Type.Optional(OrNull(Type.String())),
    abandonTime: Type.Optional(OrNull(Type.String())),
    couponIds: Type.Optional(OrNull(Type.Array(Type.String()))),
    poNumber: Type.Optional(OrNull(Type.String())),
    shipping: Type.Optional(Shipping),
    notes: Type.Optional(Type.String()),
    revision: Type.Optional(Type.Number()),
    riskMetadata: Type.Optional(OrNull(RiskMetadata)),
    customFields: Type.Optional(ResourceCustomFields),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({
        recentInvoice: Type.Optional(Type.Record(Type.String(), Type.Any())),
        customer: Type.Optional(Type.Record(Type.String(), Type.Any())),
        website: Type.Optional(Type.Record(Type.String(), Type.Any())),
        leadSource: Type.Optional(Type.Record(Type.String(), Type.Any())),
        shippingRate: Type.Optional(Type.Record(Type.String(), Type.Any())),
        paymentInstrument: Type.Optional(Type.Record(Type.String(), Type.Any())),
      }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'OneTimeSale' },
)
export type OneTimeSale = Static<typeof OneTimeSale>

export const SubscriptionChange = Type.Object(
  {
    items: Type.Array(
      Type.Object({
        plan: Type.Union([OriginalPlan, FlexiblePlan]),
        quantity: Type.Optional(Type.Number()),
        usageLimits: Type.Optional(UsageLimits),
      }),
    ),
    renewalPolicy: Type.Enum([
      'resetToRecurring',
      'retainRecurring',
      'retainTrialThenRecurring',
      'retainTrialOnly',
      'reset',
      'retain',
    ]),
    prorated: Type.Boolean(),
    effectiveTime: Type.Optional(Type.String()),
    preview: Type.Optional(Type.Boolean()),
    keepTrial: Type.Optional(Type.Boolean()),
    ignoreRecurring: Type.Optional(Type.Boolean()),
  },
  { title: 'SubscriptionChange' },
)
export type SubscriptionChange = Static<typeof SubscriptionChange>

export const OrderItemUpdate = Type.Object(
  {
    quantityFilled: Type.Optional(Type.Number()),
    excludeFromMrr: Type.Optional(Type.Boolean()),
    plan: Type.Optional(
      Type.Object({ productOptions: Type.Optional(OrNull(Type.Record(Type.String(), Type.String()))) }),
    ),
  },
  { title: 'OrderItemUpdate' },
)
export type OrderItemUpdate = Static<typeof OrderItemUpdate>

export const SubscriptionInvoice = Type.Object(
  { transactionId: Type.Optional(Type.String()) },
  { title: 'SubscriptionInvoice' },
)
export type SubscriptionInvoice = Static<typeof SubscriptionInvoice>

export const TaxItem = Type.Object(
  {
    amount: Type.Number(),
    description: Type.String(),
    rate: Type.Optional(OrNull(Type.Number())),
    stateAmount: Type.Optional(OrNull(Type.Number())),
    countyAmount: Type.Optional(OrNull(Type.Number())),
    cityAmount: Type.Optional(OrNull(Type.Number())),
    specialDistrictAmount: Type.Optional(OrNull(Type.Number())),
    stateRate: Type.Optional(OrNull(Type.Number())),
    countyRate: Type.Optional(OrNull(Type.Number())),
    cityRate: Type.Optional(OrNull(Type.Number())),
    specialDistrictRate: Type.Optional(OrNull(Type.Number())),
    jurisdictions: Type.Optional(
      OrNull(
        Type.Object({
          country: Type.Optional(OrNull(Type.String())),
          state: Type.Optional(OrNull(Type.String())),
          county: Type.Optional(OrNull(Type.String())),
          city: Type.Optional(OrNull(Type.String())),
        }),
      ),
    ),
  },
  { title: 'TaxItem' },
)
export type TaxItem = Static<typeof TaxItem>

export const UpcomingInvoiceItem = Type.Object(
  {
    id: Type.Optional(Type.String()),
    isInterim: Type.Optional(Type.Boolean()),
    description: Type.Optional(Type.String()),
    unitPrice: Type.Optional(Type.Number()),
    quantity: Type.Optional(Type.Number()),
    price: Type.Optional(Type.Number()),
    productId: Type.Optional(OrNull(Type.String())),
    planId: Type.Optional(OrNull(Type.String())),
    subscriptionId: Type.Optional(Type.String()),
    periodStartTime: Type.Optional(Type.String()),
    periodEndTime: Type.Optional(Type.String()),
    periodNumber: Type.Optional(Type.Number()),
    tax: Type.Optional(TaxItem),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({
        product: Type.Optional(Type.Record(Type.String(), Type.Any())),
        plan: Type.Optional(Type.Record(Type.String(), Type.Any())),
      }),
    ),
  },
  { title: 'UpcomingInvoiceItem' },
)
export type UpcomingInvoiceItem = Static<typeof UpcomingInvoiceItem>

export const ManualTax = Type.Object(
  { calculator: Type.Enum(['manual']), amount: Type.Optional(Type.Number()), items: Type.Array(TaxItem) },
  { title: 'ManualTax' },
)
export type ManualTax = Static<typeof ManualTax>

export const Taxes = Type.Union([ManualTax, Type.Record(Type.String(), Type.Any())])
export type Taxes = Static<typeof Taxes>

export const UpcomingInvoice = Type.Object(
  {
    id: Type.Optional(Type.String()),
    websiteId: Type.Optional(Type.String()),
    subscriptionId: Type.Optional(Type.String()),
    currency: Type.Optional(Type.String()),
    customerId: Type.Optional(Type.String()),
    revision: Type.Optional(Type.Number()),
    organizationId: Type.Optional(Type.String()),
    items: Type.Optional(Type.Array(UpcomingInvoiceItem)),
    amount: Type.Optional(Type.Number()),
    amountDue: Type.Optional(Type.Number()),
    subtotalAmount: Type.Optional(Type.Number()),
    discountAmount: Type.Optional(Type.Number()),
    shipping: Type.Optional(Shipping),
    tax: Type.Optional(Taxes),
    billingAddress: Type.Optional(ContactObject),
    deliveryAddress: Type.Optional(ContactObject),
    poNumber: Type.Optional(OrNull(Type.String())),
    notes: Type.Optional(Type.String()),
    discounts: Type.Optional(
      Type.Array(
        Type.Object({
          couponId: Type.Optional(Type.String()),
          redemptionId: Type.Optional(Type.String()),
          amount: Type.Optional(Type.Number()),
          description: Type.Optional(Type.String()),
          context: Type.Optional(Type.Enum(['items', 'shipping', 'items-and-shipping'])),
        }),
      ),
    ),
    isNewOrder: Type.Optional(Type.Boolean()),
    dueTime: Type.Optional(Type.String()),
    issuedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({
        customer: Type.Optional(Type.Record(Type.String(), Type.Any())),
        website: Type.Optional(Type.Record(Type.String(), Type.Any())),
        organization: Type.Optional(Type.Record(Type.String(), Type.Any())),
        leadSource: Type.Optional(Type.Record(Type.String(), Type.Any())),
      }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'UpcomingInvoice' },
)
export type UpcomingInvoice = Static<typeof UpcomingInvoice>

export const InvoiceIssue = Type.Object(
  { issuedTime: Type.Optional(OrNull(Type.String())), dueTime: Type.Optional(OrNull(Type.String())) },
  { title: 'InvoiceIssue' },
)
export type InvoiceIssue = Static<typeof InvoiceIssue>

export const OrderTimeline = Type.Object(
  {
    id: Type.Optional(Type.String()),
    type: Type.Optional(
      OpenEnum([
        'coupon-applied',
        'email-message-sent',
        'invoice-abandoned',
        'invoice-disputed',
        'invoice-issued',
        'invoice-paid',
        'invoice-partially-paid',
        'invoice-partially-refunded',
        'invoice-past-due',
        'invoice-refunded',
        'invoice-reissued',
        'invoice-renewal-payment-declined',
      ]),
    ),
    triggeredBy: Type.Optional(Type.Enum(['rebilly-side', 'app', 'direct-api'])),
    message: Type.Optional(Type.String()),
    extraData: Type.Optional(TimelineExtraData),
    occurredTime: Type.Optional(Type.String()),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'OrderTimeline' },
)
export type OrderTimeline = Static<typeof OrderTimeline>

export const ShippingOption = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String(),
    description: Type.Optional(OrNull(Type.String())),
    price: Type.Number(),
    currency: Type.String(),
  },
  { title: 'ShippingOption' },
)
export type ShippingOption = Static<typeof ShippingOption>

export const ShippingRate = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String(),
    description: Type.Optional(OrNull(Type.String())),
    price: Type.Number(),
    currency: Type.String(),
    filter: Type.Optional(Type.String()),
    status: Type.Optional(Type.Enum(['active', 'inactive'])),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'ShippingRate' },
)
export type ShippingRate = Static<typeof ShippingRate>

export const OrderPreview = Type.Object(
  {
    websiteId: Type.String(),
    items: Type.Array(
      Type.Intersect([
        Type.Union([
          Type.Object({ planId: Type.Optional(Type.Record(Type.String(), Type.Any())) }),
          Type.Object({ plan: Type.Optional(Type.Record(Type.String(), Type.Any())) }),
          Type.Record(Type.String(), Type.Any()),
        ]),
        Type.Object({
          planId: Type.Optional(Type.String()),
          plan: Type.Optional(Type.Union([OriginalPlan, FlexiblePlan])),
          quantity: Type.Number(),
        }),
      ]),
    ),
    billingAddress: Type.Optional(OrNull(ContactObject)),
    deliveryAddress: Type.Optional(OrNull(ContactObject)),
    couponIds: Type.Optional(Type.Array(Type.String())),
    currency: Type.Optional(Type.String()),
    lineItems: Type.Optional(
      Type.Array(
        Type.Object({
          type: Type.Optional(Type.Enum(['debit', 'credit'])),
          description: Type.Optional(Type.String()),
          unitPrice: Type.Optional(Type.Number()),
          quantity: Type.Optional(Type.Number()),
          price: Type.Optional(Type.Number()),
          planId: Type.Optional(Type.String()),
          productId: Type.Optional(Type.String()),
        }),
      ),
    ),
    shippingRates: Type.Optional(Type.Array(ShippingOption)),
    taxes: Type.Optional(
      Type.Array(
        Type.Object({ amount: Type.Optional(Type.Number()), description: Type.Optional(Type.String()) }),
      ),
    ),
    discounts: Type.Optional(
      Type.Array(
        Type.Object({
          couponId: Type.Optional(Type.String()),
          amount: Type.Optional(Type.Number()),
          description: Type.Optional(Type.String()),
        }),
      ),
    ),
    subtotalAmount: Type.Optional(Type.Number()),
    taxAmount: Type.Optional(Type.Number()),
    shippingAmount: Type.Optional(Type.Number()),
    discountsAmount: Type.Optional(Type.Number()),
    total: Type.Optional(Type.Number()),
    initialAmounts: Type.Optional(
      Type.Object({
        amount: Type.Optional(Type.Number()),
        subtotalAmount: Type.Optional(Type.Number()),
        discountAmount: Type.Optional(Type.Number()),
        shippingAmount: Type.Optional(Type.Number()),
        taxAmount: Type.Optional(Type.Number()),
      }),
    ),
    recurringAmounts: Type.Optional(
      OrNull(
        Type.Object({
          amount: Type.Optional(Type.Number()),
          subtotalAmount: Type.Optional(Type.Number()),
          discountAmount: Type.Optional(Type.Number()),
          shippingAmount: Type.Optional(Type.Number()),
          taxAmount: Type.Optional(Type.Number()),
        }),
      ),
    ),
    shipping: Type.Optional(Shipping),
  },
  { title: 'OrderPreview' },
)
export type OrderPreview = Static<typeof OrderPreview>

export const SubscriptionPause = Type.Object(
  {
    id: Type.Optional(Type.String()),
    subscriptionId: Type.String(),
    status: Type.Optional(Type.Enum(['pending', 'ongoing', 'revoked', 'finished'])),
    pausedBy: Type.Optional(Type.Enum(['merchant', 'customer'])),
    description: Type.Optional(OrNull(Type.String())),
    effectiveTime: Type.Optional(OrNull(Type.String())),
    endTime: Type.Optional(OrNull(Type.String())),
    timeRemaining: Type.Optional(OrNull(Type.String())),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'SubscriptionPause' },
)
export type SubscriptionPause = Static<typeof SubscriptionPause>

export const SubscriptionCancellation = Type.Object(
  {
    id: Type.Optional(Type.String()),
    subscriptionId: Type.String(),
    proratedInvoiceId: Type.Optional(OrNull(Type.String())),
    appliedInvoiceId: Type.Optional(OrNull(Type.String())),
    canceledBy: Type.Optional(Type.Enum(['merchant', 'customer', 'rebilly-side'])),
    reason: Type.Optional(
      Type.Enum([
        'did-not-use',
        'did-not-want',
        'missing-features',
        'bugs-or-problems',
        'do-not-remember',
        'risk-warning',
        'contract-expired',
        'too-expensive',
        'other',
        'billing-failure',
      ]),
    ),
    description: Type.Optional(Type.String()),
    prorated: Type.Optional(Type.Boolean()),
    status: Type.Optional(Type.Enum(['draft', 'confirmed', 'completed', 'revoked'])),
    canceledTime: Type.Optional(OrNull(Type.String())),
    churnTime: Type.Optional(Type.String()),
    churnTimePolicy: Type.Optional(OrNull(Type.Enum(['now', 'at-next-renewal']))),
    lineItems: Type.Optional(
      Type.Array(
        Type.Object({
          type: Type.Enum(['debit', 'credit']),
          description: Type.Optional(Type.String()),
          unitPriceAmount: Type.Number(),
          unitPriceCurrency: Type.String(),
          quantity: Type.Number(),
          periodStartTime: Type.Optional(Type.String()),
          periodEndTime: Type.Optional(Type.String()),
        }),
      ),
    ),
    lineItemSubtotal: Type.Optional(
      Type.Object({ amount: Type.Optional(Type.Number()), currency: Type.Optional(Type.String()) }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'SubscriptionCancellation' },
)
export type SubscriptionCancellation = Static<typeof SubscriptionCancellation>

export const SubscriptionReactivation = Type.Object(
  {
    id: Type.Optional(Type.String()),
    subscriptionId: Type.String(),
    cancellationId: Type.Optional(Type.String()),
    description: Type.Optional(OrNull(Type.String())),
    effectiveTime: Type.Optional(Type.String()),
    renewalTime: Type.Optional(Type.String()),
    paymentInstrumentId: Type.Optional(OrNull(Type.String())),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'SubscriptionReactivation' },
)
export type SubscriptionReactivation = Static<typeof SubscriptionReactivation>

export const DiscountFixed = Type.Object(
  {
    amount: Type.Number(),
    currency: Type.String(),
    type: Type.Enum(['fixed']),
    context: Type.Optional(Type.Enum(['items', 'shipping', 'items-and-shipping'])),
  },
  { title: 'DiscountFixed' },
)
export type DiscountFixed = Static<typeof DiscountFixed>

export const DiscountPercent = Type.Object(
  {
    value: Type.Number(),
    type: Type.Enum(['percent']),
    context: Type.Optional(Type.Enum(['items', 'shipping', 'items-and-shipping'])),
  },
  { title: 'DiscountPercent' },
)
export type DiscountPercent = Static<typeof DiscountPercent>

export const Discount = Type.Union([DiscountFixed, DiscountPercent])
export type Discount = Static<typeof Discount>

export const CouponRestrictionDiscountPerRedemption = Type.Object(
  {
    type: Type.Enum(['discounts-per-redemption']),
    quantity: Type.Number(),
  },
  { title: 'CouponRestrictionDiscountPerRedemption' },
)
export type CouponRestrictionDiscountPerRedemption = Static<typeof CouponRestrictionDiscountPerRedemption>

export const CouponRestrictionMaximumOrderAmount = Type.Object(
  {
    type: Type.Enum(['maximum-order-amount']),
    amount: Type.Number(),
    currency: Type.String(),
  },
  { title: 'CouponRestrictionMaximumOrderAmount' },
)
export type CouponRestrictionMaximumOrderAmount = Static<typeof CouponRestrictionMaximumOrderAmount>

export const CouponRestrictionMinimumOrderAmount = Type.Object(
  {
    type: Type.Enum(['minimum-order-amount']),
    amount: Type.Number(),
    currency: Type.String(),
  },
  { title: 'CouponRestrictionMinimumOrderAmount' },
)
export type CouponRestrictionMinimumOrderAmount = Static<typeof CouponRestrictionMinimumOrderAmount>

export const CouponRestrictionPaidByTime = Type.Object(
  {
    type: Type.Enum(['paid-by-time']),
    time: Type.String(),
  },
  { title: 'CouponRestrictionPaidByTime' },
)
export type CouponRestrictionPaidByTime = Static<typeof CouponRestrictionPaidByTime>

export const CouponRestrictionRestrictToInvoices = Type.Object(
  {
    type: Type.Enum(['restrict-to-invoices']),
    invoiceIds: Type.Array(Type.String()),
  },
  { title: 'CouponRestrictionRestrictToInvoices' },
)
export type CouponRestrictionRestrictToInvoices = Static<typeof CouponRestrictionRestrictToInvoices>

export const CouponRestrictionRestrictToPlans = Type.Object(
  {
    type: Type.Enum(['restrict-to-plans']),
    planIds: Type.Array(Type.String()),
    minimumQuantity: Type.Optional(Type.Number()),
  },
  { title: 'CouponRestrictionRestrictToPlans' },
)
export type CouponRestrictionRestrictToPlans = Static<typeof CouponRestrictionRestrictToPlans>

export const CouponRestrictionRestrictToProducts = Type.Object(
  {
    type: Type.Enum(['restrict-to-products']),
    productIds: Type.Array(Type.String()),
    minimumQuantity: Type.Optional(Type.Number()),
  },
  { title: 'CouponRestrictionRestrictToProducts' },
)
export type CouponRestrictionRestrictToProducts = Static<typeof CouponRestrictionRestrictToProducts>

export const CouponRestrictionRestrictToSubscriptions = Type.Object(
  {
    type: Type.Enum(['restrict-to-subscriptions']),
    subscriptionIds: Type.Array(Type.String()),
  },
  { title: 'CouponRestrictionRestrictToSubscriptions' },
)
export type CouponRestrictionRestrictToSubscriptions = Static<typeof CouponRestrictionRestrictToSubscriptions>

export const CouponRestrictionExclusiveApplication = Type.Object(
  {
    type: Type.Enum(['restrict-to-exclusive-application']),
  },
  { title: 'CouponRestrictionExclusiveApplication' },
)
export type CouponRestrictionExclusiveApplication = Static<typeof CouponRestrictionExclusiveApplication>

export const CouponRestrictionRedemptionsPerCustomer = Type.Object(
  {
    type: Type.Enum(['redemptions-per-customer']),
    quantity: Type.Number(),
  },
  { title: 'CouponRestrictionRedemptionsPerCustomer' },
)
export type CouponRestrictionRedemptionsPerCustomer = Static<typeof CouponRestrictionRedemptionsPerCustomer>

export const CouponRestrictionRestrictToBxgy = Type.Object(
  {
    type: Type.Enum(['restrict-to-bxgy']),
    buy: Type.Array(Type.Object({ planId: Type.String(), quantity: Type.Number() })),
    get: Type.Array(Type.Object({ planId: Type.String(), quantity: Type.Number() })),
  },
  { title: 'CouponRestrictionRestrictToBxgy' },
)
export type CouponRestrictionRestrictToBxgy = Static<typeof CouponRestrictionRestrictToBxgy>

export const CouponRestrictionRestrictToCountries = Type.Object(
  {
    type: Type.Enum(['restrict-to-countries']),
    countries: Type.Array(Type.String()),
  },
  { title: 'CouponRestrictionRestrictToCountries' },
)
export type CouponRestrictionRestrictToCountries = Static<typeof CouponRestrictionRestrictToCountries>

export const CouponRestrictionRestrictToCustomerTags = Type.Object(
  {
    type: Type.Enum(['restrict-to-customer-tags']),
    tags: Type.Array(Type.String()),
    requireAllTags: Type.Boolean(),
  },
  { title: 'CouponRestrictionRestrictToCustomerTags' },
)
export type CouponRestrictionRestrictToCustomerTags = Static<typeof CouponRestrictionRestrictToCustomerTags>

export const CouponRestrictionRestrictToCustomers = Type.Object(
  {
    type: Type.Enum(['restrict-to-customers']),
    customerIds: Type.Array(Type.String()),
  },
  { title: 'CouponRestrictionRestrictToCustomers' },
)
export type CouponRestrictionRestrictToCustomers = Static<typeof CouponRestrictionRestrictToCustomers>

export const CouponRestrictionTotalRedemptions = Type.Object(
  {
    type: Type.Enum(['total-redemptions']),
    quantity: Type.Number(),
  },
  { title: 'CouponRestrictionTotalRedemptions' },
)
export type CouponRestrictionTotalRedemptions = Static<typeof CouponRestrictionTotalRedemptions>

export const RedemptionRestriction = Type.Union([
  CouponRestrictionDiscountPerRedemption,
  CouponRestrictionMaximumOrderAmount,
  CouponRestrictionMinimumOrderAmount,
  CouponRestrictionPaidByTime,
  CouponRestrictionRestrictToInvoices,
  CouponRestrictionRestrictToPlans,
  CouponRestrictionRestrictToProducts,
  CouponRestrictionRestrictToSubscriptions,
])
export type RedemptionRestriction = Static<typeof RedemptionRestriction>

export const CouponRestriction = Type.Union([
  CouponRestrictionDiscountPerRedemption,
  CouponRestrictionExclusiveApplication,
  CouponRestrictionMaximumOrderAmount,
  CouponRestrictionMinimumOrderAmount,
  CouponRestrictionPaidByTime,
  CouponRestrictionRedemptionsPerCustomer,
  CouponRestrictionRestrictToBxgy,
  CouponRestrictionRestrictToCountries,
  CouponRestrictionRestrictToCustomerTags,
  CouponRestrictionRestrictToCustomers,
  CouponRestrictionRestrictToInvoices,
  CouponRestrictionRestrictToPlans,
  CouponRestrictionRestrictToProducts,
  CouponRestrictionRestrictToSubscriptions,
  CouponRestrictionTotalRedemptions,
])
export type CouponRestriction = Static<typeof CouponRestriction>

export const CouponRedemption = Type.Object(
  {
    id: Type.Optional(Type.String()),
    couponId: Type.Optional(Type.String()),
    customerId: Type.Optional(Type.String()),
    additionalRestrictions: Type.Optional(Type.Array(RedemptionRestriction)),
    canceledTime: Type.Optional(OrNull(Type.String())),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'CouponRedemption' },
)
export type CouponRedemption = Static<typeof CouponRedemption>

export const Coupon = Type.Object(
  {
    id: Type.Optional(Type.String()),
    discount: Discount,
    restrictions: Type.Optional(Type.Array(CouponRestriction)),
    redemptionsCount: Type.Optional(Type.Number()),
    status: Type.Optional(Type.Enum(['draft', 'issued', 'expired'])),
    description: Type.Optional(Type.String()),
    issuedTime: Type.String(),
    expiredTime: Type.Optional(OrNull(Type.String())),
    revision: Type.Optional(Type.Number()),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'Coupon' },
)
export type Coupon = Static<typeof Coupon>

export const CouponExpiration = Type.Object(
  {
    expiredTime: Type.String(),
  },
  { title: 'CouponExpiration' },
)
export type CouponExpiration = Static<typeof CouponExpiration>

export const InvoiceItem = Type.Object(
  {
    id: Type.Optional(Type.String()),
    type: Type.Enum(['debit', 'credit']),
    description: Type.Optional(Type.String()),
    unitPrice: Type.Number(),
    quantity: Type.Optional(Type.Number()),
    price: Type.Optional(Type.Number()),
    productId: Type.Optional(OrNull(Type.String())),
    planId: Type.Optional(OrNull(Type.String())),
    subscriptionId: Type.Optional(OrNull(Type.String())),
    periodStartTime: Type.Optional(OrNull(Type.String())),
    periodEndTime: Type.Optional(OrNull(Type.String())),
    periodNumber: Type.Optional(OrNull(Type.Number())),
    tax: Type.Optional(OrNull(TaxItem)),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({
        product: Type.Optional(Type.Record(Type.String(), Type.Any())),
        plan: Type.Optional(Type.Record(Type.String(), Type.Any())),
      }),
    ),
  },
  { title: 'InvoiceItem' },
)
export type InvoiceItem = Static<typeof InvoiceItem>

export const CreditMemoInvoiceAllocation = Type.Object(
  {
    invoiceId: Type.Optional(Type.String()),
    amount: Type.Optional(Type.Number()),
    currency: Type.Optional(Type.String()),
  },
  { title: 'CreditMemoInvoiceAllocation' },
)
export type CreditMemoInvoiceAllocation = Static<typeof CreditMemoInvoiceAllocation>

export const VaultedInstrument = Type.Object(
  { method: Type.Enum(['payment-card', 'ach', 'paypal']), paymentInstrumentId: Type.String() },
  { title: 'VaultedInstrument' },
)
export type VaultedInstrument = Static<typeof VaultedInstrument>

export const AlternativePaymentInstrument = Type.Object(
  {
    method: Type.Intersect([Type.String(), Type.Record(Type.String(), Type.Any())]),
    paymentInstrumentId: Type.Optional(Type.String()),
    reference: Type.Optional(OrNull(Type.String())),
  },
  { title: 'AlternativePaymentInstrument' },
)
export type AlternativePaymentInstrument = Static<typeof AlternativePaymentInstrument>

export const CashInstrument = Type.Object(
  { method: Type.Enum(['cash']), receivedBy: Type.Optional(Type.String()) },
  { title: 'CashInstrument' },
)
export type CashInstrument = Static<typeof CashInstrument>

export const CheckInstrument = Type.Object(
  { method: Type.Enum(['check']), reference: Type.Optional(Type.String()) },
  { title: 'CheckInstrument' },
)
export type CheckInstrument = Static<typeof CheckInstrument>

export const Money = Type.Object({ amount: Type.Number(), currency: Type.String() }, { title: 'Money' })
export type Money = Static<typeof Money>

export const TransactionLimitAmount = OrNull(
  Type.Object({
    amount: Type.Optional(Type.Number()),
    currency: Type.Optional(Type.String()),
    resetTime: Type.Optional(OrNull(Type.String())),
  }),
)
export type TransactionLimitAmount = Static<typeof TransactionLimitAmount>

export const Transaction = Type.Object(
  {
    id: Type.Optional(Type.String()),
    websiteId: Type.Optional(Type.String()),
    customerId: Type.Optional(Type.String()),
    type: Type.Optional(
      Type.Enum(['3ds-authentication', 'authorize', 'capture', 'credit', 'refund', 'sale', 'setup', 'void']),
    ),
    status: Type.Optional(
      Type.Enum([
        'completed',
        'conn-error',
        'disputed',
        'never-sent',
        'offsite',
        'partially-refunded',
        'pending',
        'refunded',
        'sending',
        'timeout',
        'voided',
        'waiting-approval',
        'waiting-capture',
        'waiting-gateway',
        'waiting-refund',
      ]),
    ),
    result: Type.Optional(Type.Enum(['abandoned', 'approved', 'canceled', 'declined', 'unknown'])),
    amount: Type.Optional(Type.Number()),
    currency: Type.Optional(Type.String()),
    purchaseAmount: Type.Optional(Type.Number()),
    purchaseCurrency: Type.Optional(Type.String()),
    requestAmount: Type.Optional(Type.Number()),
    requestCurrency: Type.Optional(Type.String()),
    parentTransactionId: Type.Optional(Type.String()),
    childTransactions: Type.Optional(Type.Array(Type.String())),
    invoiceIds: Type.Optional(Type.Array(Type.String())),
    subscriptionIds: Type.Optional(Type.Array(Type.String())),
    planIds: Type.Optional(Type.Array(Type.String())),
    isRebill: Type.Optional(Type.Boolean()),
    rebillNumber: Type.Optional(Type.Number()),
    billingAddress: Type.Optional(ContactObject),
    has3ds: Type.Optional(Type.Boolean()),
    '3ds': Type.Optional(
      Type.Object({
        server: Type.Optional(Type.String()),
        version: Type.Optional(Type.Enum(['1.0.2', '2.1.0', '2.2.0'])),
        enrolled: Type.Optional(Type.Enum(['yes', 'no', 'invalid card/timeout', 'unavailable'])),
        authenticated: Type.Optional(Type.Enum(['yes', 'no', 'not applicable', 'attempted'])),
        liability: Type.Optional(Type.Enum(['protected', 'not protected', 'protected (attempt)'])),
        flow: Type.Optional(Type.Enum(['frictionless', 'challenge'])),
        isDowngraded: Type.Optional(Type.Boolean()),
      }),
    ),
    redirectUrl: Type.Optional(OrNull(Type.String())),
    retryNumber: Type.Optional(Type.Number()),
    isRetry: Type.Optional(Type.Boolean()),
    billingDescriptor: Type.Optional(OrNull(Type.String())),
    description: Type.Optional(Type.String()),
    requestId: Type.Optional(Type.String()),
    hasAmountAdjustment: Type.Optional(Type.Boolean()),
    gatewayName: Type.Optional(Type.String()),
    customFields: Type.Optional(ResourceCustomFields),
    processedTime: Type.Optional(Type.String()),
    gatewayAccountId: Type.Optional(OrNull(Type.String())),
    gatewayTransactionId: Type.Optional(OrNull(Type.String())),
    gateway: Type.Optional(
      Type.Object({
        response: Type.Optional(
          Type.Object({
            code: Type.Optional(OrNull(Type.String())),
            message: Type.Optional(OrNull(Type.String())),
            type: Type.Optional(OrNull(Type.String())),
            originalCode: Type.Optional(OrNull(Type.String())),
            originalMessage: Type.Optional(OrNull(Type.String())),
          }),
        ),
        avsResponse: Type.Optional(
          Type.Object({
            code: Type.Optional(OrNull(Type.String())),
            message: Type.Optional(OrNull(Type.String())),
            originalCode: Type.Optional(OrNull(Type.String())),
            originalMessage: Type.Optional(OrNull(Type.String())),
          }),
        ),
        cvvResponse: Type.Optional(
          Type.Object({
            code: Type.Optional(OrNull(Type.String())),
            message: Type.Optional(OrNull(Type.String())),
            originalCode: Type.Optional(OrNull(Type.String())),
            originalMessage: Type.Optional(OrNull(Type.String())),
          }),
        ),
      }),
    ),
    acquirerName: Type.Optional(Type.String()),
    method: Type.Optional(Type.String()),
    velocity: Type.Optional(Type.Number()),
    revision: Type.Optional(Type.Number()),
    referenceData: Type.Optional(OrNull(Type.Record(Type.String(), Type.String()))),
    bin: Type.Optional(OrNull(Type.String())),
    paymentInstrument: Type.Optional(
      Type.Union([VaultedInstrument, AlternativePaymentInstrument, CashInstrument, CheckInstrument]),
    ),
    hasDcc: Type.Optional(Type.Boolean()),
    dcc: Type.Optional(
      OrNull(
        Type.Object({
          base: Type.Optional(Money),
          quote: Type.Optional(Money),
          usdMarkup: Type.Optional(Type.Number()),
          outcome: Type.Optional(Type.Enum(['unprocessed', 'rejected', 'selected'])),
          isForceDcc: Type.Optional(Type.Boolean()),
        }),
      ),
    ),
    riskScore: Type.Optional(Type.Number()),
    riskMetadata: Type.Optional(OrNull(RiskMetadata)),
    notificationUrl: Type.Optional(OrNull(Type.String())),
    isDisputed: Type.Optional(Type.Boolean()),
    disputeTime: Type.Optional(OrNull(Type.String())),
    disputeStatus: Type.Optional(
      OrNull(Type.Enum(['response-needed', 'under-review', 'forfeited', 'won', 'lost', 'unknown'])),
    ),
    isReconciled: Type.Optional(Type.Boolean()),
    isProcessedOutside: Type.Optional(Type.Boolean()),
    isMerchantInitiated: Type.Optional(Type.Boolean()),
    hadDiscrepancy: Type.Optional(Type.Boolean()),
    orderId: Type.Optional(Type.String()),
    arn: Type.Optional(OrNull(Type.String())),
    reportAmount: Type.Optional(Type.Number()),
    reportCurrency: Type.Optional(Type.String()),
    settlementTime: Type.Optional(OrNull(Type.String())),
    discrepancyTime: Type.Optional(OrNull(Type.String())),
    limits: Type.Optional(TransactionLimitAmount),
    organizationId: Type.Optional(Type.String()),
    depositRequestId: Type.Optional(OrNull(Type.String())),
    transferId: Type.Optional(OrNull(Type.String())),
    payoutRequestId: Type.Optional(OrNull(Type.String())),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({
        parentTransaction: Type.Optional(Type.Record(Type.String(), Type.Any())),
        childTransactions: Type.Optional(Type.Array(Type.Any())),
        gatewayAccount: Type.Optional(Type.Record(Type.String(), Type.Any())),
        customer: Type.Optional(Type.Record(Type.String(), Type.Any())),
        leadSource: Type.Optional(Type.Record(Type.String(), Type.Any())),
        website: Type.Optional(Type.Record(Type.String(), Type.Any())),
        invoices: Type.Optional(Type.Array(Type.Any())),
        organization: Type.Optional(Type.Record(Type.String(), Type.Any())),
        dispute: Type.Optional(Type.Record(Type.String(), Type.Any())),
        paymentCard: Type.Optional(Type.Record(Type.String(), Type.Any())),
        bankAccount: Type.Optional(Type.Record(Type.String(), Type.Any())),
      }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'Transaction' },
)
export type Transaction = Static<typeof Transaction>

export const PeriodAnchor = Type.Union([SchedulingMethodDayOfMonth, SchedulingMethodDayOfWeek])
export type PeriodAnchor = Static<typeof PeriodAnchor>

export const SchedulingMethodDateInterval = Type.Object(
  {
    method: Type.Enum(['date-interval']),
    duration: Type.Number(),
    unit: Type.Enum([
      'second',
      'minute',
      'hour',
      'day',
      'month',
      'year',
      'seconds',
      'minutes',
      'hours',
      'days',
      'months',
      'years',
    ]),
    anchor: Type.Optional(PeriodAnchor),
  },
  { title: 'SchedulingMethodDateInterval' },
)
export type SchedulingMethodDateInterval = Static<typeof SchedulingMethodDateInterval>

export const SchedulingMethodImmediately = Type.Object(
  { method: Type.Enum(['immediately']) },
  { title: 'SchedulingMethodImmediately' },
)
export type SchedulingMethodImmediately = Static<typeof SchedulingMethodImmediately>

export const SchedulingMethodIntelligent = Type.Object(
  {
    method: Type.Enum(['intelligent']),
    duration: Type.Number(),
    unit: Type.Enum([
      'second',
      'minute',
      'hour',
      'day',
      'month',
      'year',
      'seconds',
      'minutes',
      'hours',
      'days',
      'months',
      'years',
    ]),
  },
  { title: 'SchedulingMethodIntelligent' },
)
export type SchedulingMethodIntelligent = Static<typeof SchedulingMethodIntelligent>

export const InvoiceRetryScheduleInstruction = Type.Union([
  SchedulingMethodDateInterval,
  SchedulingMethodDayOfMonth,
  SchedulingMethodDayOfWeek,
  SchedulingMethodImmediately,
  SchedulingMethodIntelligent,
])
export type InvoiceRetryScheduleInstruction = Static<typeof InvoiceRetryScheduleInstruction>

export const AmountAdjustmentPoliciesNone = Type.Object(
  { method: Type.Enum(['none']) },
  { title: 'AmountAdjustmentPoliciesNone' },
)
export type AmountAdjustmentPoliciesNone = Static<typeof AmountAdjustmentPoliciesNone>

export const AmountAdjustmentPoliciesDiscountAmountRemaining = Type.Object(
  { method: Type.Enum(['discount-amount-remaining']) },
  { title: 'AmountAdjustmentPoliciesDiscountAmountRemaining' },
)
export type AmountAdjustmentPoliciesDiscountAmountRemaining = Static<
  typeof AmountAdjustmentPoliciesDiscountAmountRemaining
>

export const AmountAdjustmentInstructionPartial = Type.Object(
  {
    method: Type.Enum(['partial']),
    value: Type.Number(),
    type: Type.Enum(['percent', 'fixed']),
    afterApprovalPolicy: Type.Optional(
      Type.Union([AmountAdjustmentPoliciesNone, AmountAdjustmentPoliciesDiscountAmountRemaining]),
    ),
  },
  { title: 'AmountAdjustmentInstructionPartial' },
)
export type AmountAdjustmentInstructionPartial = Static<typeof AmountAdjustmentInstructionPartial>

export const AmountAdjustmentInstructionNone = Type.Object(
  { method: Type.Enum(['none']) },
  { title: 'AmountAdjustmentInstructionNone' },
)
export type AmountAdjustmentInstructionNone = Static<typeof AmountAdjustmentInstructionNone>

export const InvoiceRetryAmountAdjustmentInstruction = Type.Union([
  AmountAdjustmentInstructionPartial,
  AmountAdjustmentInstructionNone,
])
export type InvoiceRetryAmountAdjustmentInstruction = Static<typeof InvoiceRetryAmountAdjustmentInstruction>

export const Invoice = Type.Object(
  {
    id: Type.Optional(Type.String()),
    websiteId: Type.String(),
    invoiceNumber: Type.Optional(Type.Number()),
    orderId: Type.Optional(OrNull(Type.String())),
    subscriptionId: Type.Optional(Type.String()),
    quoteId: Type.Optional(OrNull(Type.String())),
    currency: Type.String(),
    amount: Type.Optional(Type.Number()),
    amountDue: Type.Optional(Type.Number()),
    subtotalAmount: Type.Optional(Type.Number()),
    discountAmount: Type.Optional(Type.Number()),
    shipping: Type.Optional(Shipping),
    tax: Type.Optional(Taxes),
    organizationTaxIdNumber: Type.Optional(
      OrNull(Type.Object({ type: Type.Enum(['eu-vat', 'other']), value: Type.String() })),
    ),
    customerTaxIdNumber: Type.Optional(
      OrNull(Type.Object({ type: Type.Enum(['eu-vat', 'other']), value: Type.String() })),
    ),
    billingAddress: Type.Optional(ContactObject),
    deliveryAddress: Type.Optional(ContactObject),
    poNumber: Type.Optional(OrNull(Type.String())),
    notes: Type.Optional(Type.String()),
    items: Type.Optional(Type.Array(InvoiceItem)),
    discounts: Type.Optional(
      Type.Array(
        Type.Object({
          couponId: Type.Optional(Type.String()),
          redemptionId: Type.Optional(Type.String()),
          amount: Type.Optional(Type.Number()),
          description: Type.Optional(Type.String()),
          context: Type.Optional(Type.Enum(['items', 'shipping', 'items-and-shipping'])),
        }),
      ),
    ),
    autopayScheduledTime: Type.Optional(OrNull(Type.String())),
    autopayRetryNumber: Type.Optional(Type.Number()),
    status: Type.Optional(
      Type.Enum([
        'draft',
        'quotation',
        'unpaid',
        'paid',
        'partially-paid',
        'past-due',
        'abandoned',
        'voided',
        'partially-refunded',
        'refunded',
        'disputed',
      ]),
    ),
    delinquentCollectionPeriod: Type.Optional(Type.Number()),
    collectionPeriod: Type.Optional(Type.Number()),
    abandonedTime: Type.Optional(OrNull(Type.String())),
    voidedTime: Type.Optional(OrNull(Type.String())),
    paidTime: Type.Optional(OrNull(Type.String())),
    dueTime: Type.Optional(Type.String()),
    issuedTime: Type.Optional(Type.String()),
    paymentFormUrl: Type.Optional(OrNull(Type.String())),
    creditMemoAllocations: Type.Optional(Type.Array(CreditMemoInvoiceAllocation)),
    isNewOrder: Type.Optional(Type.Boolean()),
    customerId: Type.String(),
    transactions: Type.Optional(Type.Array(Transaction)),
    retryInstruction: Type.Optional(
      OrNull(
        Type.Object({
          attempts: Type.Array(
            Type.Object({
              scheduleInstruction: InvoiceRetryScheduleInstruction,
              amountAdjustmentInstruction: Type.Optional(InvoiceRetryAmountAdjustmentInstruction),
              tryBackupInstruments: Type.Optional(Type.Boolean()),
            }),
          ),
          afterAttemptPolicies: Type.Array(Type.Enum(['change-subscription-renewal-time'])),
          afterRetryEndPolicies: Type.Array(Type.Enum(['abandon-invoice', 'cancel-subscription'])),
        }),
      ),
    ),
    revision: Type.Optional(Type.Number()),
    type: Type.Optional(
      Type.Enum([
        'initial',
        'renewal',
        'interim',
        'cancellation',
        'one-time',
        'refund',
        'charge',
        'one-time-sale',
      ]),
    ),
    dueReminderTime: Type.Optional(OrNull(Type.String())),
    dueReminderNumber: Type.Optional(OrNull(Type.Number())),
    organizationId: Type.Optional(Type.String()),
    delinquencyTime: Type.Optional(OrNull(Type.String())),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({
        customer: Type.Optional(Type.Record(Type.String(), Type.Any())),
        website: Type.Optional(Type.Record(Type.String(), Type.Any())),
        organization: Type.Optional(Type.Record(Type.String(), Type.Any())),
        leadSource: Type.Optional(Type.Record(Type.String(), Type.Any())),
        shippingRate: Type.Optional(Type.Record(Type.String(), Type.Any())),
      }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'Invoice' },
)
export type Invoice = Static<typeof Invoice>

export const InvoiceReissue = Type.Object(
  { dueTime: Type.Optional(OrNull(Type.String())) },
  { title: 'InvoiceReissue' },
)
export type InvoiceReissue = Static<typeof InvoiceReissue>

export const InvoiceTransactionAllocation = Type.Object(
  {
    invoiceId: Type.Optional(Type.String()),
    transactionId: Type.Optional(Type.String()),
    amount: Type.Optional(Type.Number()),
    currency: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'InvoiceTransactionAllocation' },
)
export type InvoiceTransactionAllocation = Static<typeof InvoiceTransactionAllocation>

export const InvoiceCreditMemoAllocationRequest = Type.Object(
  {
    amount: Type.Optional(Type.Number()),
    allocationOrder: Type.Optional(Type.Enum(['oldest-first', 'newest-first'])),
  },
  { title: 'InvoiceCreditMemoAllocationRequest' },
)
export type InvoiceCreditMemoAllocationRequest = Static<typeof InvoiceCreditMemoAllocationRequest>

export const InvoiceAppliedCreditMemoAllocation = Type.Object(
  { creditMemoId: Type.String(), amount: Type.Number() },
  { title: 'InvoiceAppliedCreditMemoAllocation' },
)
export type InvoiceAppliedCreditMemoAllocation = Static<typeof InvoiceAppliedCreditMemoAllocation>

export const InvoiceCreditMemoAllocationResponse = Type.Object(
  {
    invoiceId: Type.String(),
    currency: Type.String(),
    appliedCreditMemos: Type.Array(InvoiceAppliedCreditMemoAllocation),
    remainingInvoiceAmount: Type.Number(),
  },
  { title: 'InvoiceCreditMemoAllocationResponse' },
)
export type InvoiceCreditMemoAllocationResponse = Static<typeof InvoiceCreditMemoAllocationResponse>

export const InvoiceTransaction = Type.Object(
  { transactionId: Type.String(), amount: Type.Optional(Type.Number()) },
  { title: 'InvoiceTransaction' },
)
export type InvoiceTransaction = Static<typeof InvoiceTransaction>

export const InvoiceTimeline = Type.Object(
  {
    id: Type.Optional(Type.String()),
    type: Type.Optional(
      OpenEnum([
        'coupon-applied',
        'email-message-sent',
        'invoice-abandoned',
        'invoice-disputed',
        'invoice-issued',
        'invoice-paid',
        'invoice-partially-paid',
        'invoice-partially-refunded',
        'invoice-past-due',
        'invoice-refunded',
        'invoice-reissued',
        'invoice-renewal-payment-declined',
      ]),
    ),
    triggeredBy: Type.Optional(Type.Enum(['rebilly-side', 'app', 'direct-api'])),
    message: Type.Optional(Type.String()),
    extraData: Type.Optional(TimelineExtraData),
    occurredTime: Type.Optional(Type.String()),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'InvoiceTimeline' },
)
export type InvoiceTimeline = Static<typeof InvoiceTimeline>

export const CreditMemoTaxItem = Type.Object(
  {
    amount: Type.Number(),
    description: Type.String(),
    rate: Type.Optional(OrNull(Type.Number())),
    stateAmount: Type.Optional(OrNull(Type.Number())),
    countyAmount: Type.Optional(OrNull(Type.Number())),
    cityAmount: Type.Optional(OrNull(Type.Number())),
    specialDistrictAmount: Type.Optional(OrNull(Type.Number())),
    stateRate: Type.Optional(OrNull(Type.Number())),
    countyRate: Type.Optional(OrNull(Type.Number())),
    cityRate: Type.Optional(OrNull(Type.Number())),
    specialDistrictRate: Type.Optional(OrNull(Type.Number())),
    jurisdictions: Type.Optional(
      OrNull(
        Type.Object({
          country: Type.Optional(OrNull(Type.String())),
          state: Type.Optional(OrNull(Type.String())),
          county: Type.Optional(OrNull(Type.String())),
          city: Type.Optional(OrNull(Type.String())),
        }),
      ),
    ),
  },
  { title: 'CreditMemoTaxItem' },
)
export type CreditMemoTaxItem = Static<typeof CreditMemoTaxItem>

const CreditMemoItem = Type.Object({
  id: Type.Optional(Type.String()),
  invoiceItemId: Type.Optional(OrNull(Type.String())),
  description: Type.Optional(Type.String()),
  unitPrice: Type.Number(),
  quantity: Type.Number(),
  price: Type.Optional(Type.Number()),
  productId: Type.Optional(OrNull(Type.String())),
  planId: Type.Optional(OrNull(Type.String())),
  tax: Type.Optional(OrNull(CreditMemoTaxItem)),
})
const CreditMemoTransactionAllocation = Type.Object({
  transactionId: Type.Optional(Type.String()),
  amount: Type.Optional(Type.Number()),
  currency: Type.Optional(Type.String()),
})
const CREDIT_MEMO_REASONS = [
  'return',
  'product-unsatisfactory',
  'order-change',
  'order-cancellation',
  'chargeback',
  'write-off',
  'waiver',
  'customer-credit',
  'prepayment',
  'other',
]

export const CreditMemo = Type.Object(
  {
    id: Type.Optional(Type.String()),
    number: Type.Optional(Type.Number()),
    allocations: Type.Optional(
      Type.Object({
        transactions: Type.Optional(Type.Array(CreditMemoTransactionAllocation)),
        invoices: Type.Optional(Type.Array(CreditMemoInvoiceAllocation)),
      }),
    ),
    items: Type.Optional(Type.Array(CreditMemoItem)),
    status: Type.Optional(
      Type.Enum(['draft', 'quotation', 'issued', 'applied', 'partially-applied', 'voided']),
    ),
    reason: Type.Optional(Type.Enum(CREDIT_MEMO_REASONS)),
    description: Type.Optional(Type.String()),
    shippingAmount: Type.Optional(Type.Number()),
    taxAmount: Type.Optional(Type.Number()),
    totalAmount: Type.Optional(Type.Number()),
    unusedAmount: Type.Optional(Type.Number()),
    revision: Type.Optional(Type.Number()),
    customerId: Type.String(),
    currency: Type.String(),
    invoiceId: Type.Optional(OrNull(Type.String())),
    quoteId: Type.Optional(OrNull(Type.String())),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(Type.Object({ customer: Type.Optional(Type.Object({})) })),
  },
  { title: 'CreditMemo' },
)
export type CreditMemo = Static<typeof CreditMemo>

export const CreditMemoTimeline = Type.Object(
  {
    id: Type.Optional(Type.String()),
    type: Type.Optional(
      Type.Enum([
        'credit-memo-created',
        'credit-memo-applied',
        'credit-memo-partially-applied',
        'credit-memo-voided',
      ]),
    ),
    triggeredBy: Type.Optional(Type.Enum(['rebilly-side', 'app', 'direct-api'])),
    message: Type.Optional(Type.String()),
    extraData: Type.Optional(TimelineExtraData),
    occurredTime: Type.Optional(Type.String()),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'CreditMemoTimeline' },
)
export type CreditMemoTimeline = Static<typeof CreditMemoTimeline>

export const PaymentCardToken = Type.Object(
  {
    method: Type.Enum(['payment-card']),
    paymentInstrument: Type.Object({
      pan: Type.Optional(Type.String()),
      cvv: Type.Optional(Type.String()),
      encryptedCvv: Type.Optional(OrNull(Type.String())),
      expMonth: Type.Number(),
      expYear: Type.Number(),
      bin: Type.Optional(OrNull(Type.String())),
      last4: Type.Optional(OrNull(Type.String())),
      brand: Type.Optional(
        Type.Enum([
          'Visa',
          'MasterCard',
          'American Express',
          'Discover',
          'Maestro',
          'Solo',
          'Electron',
          'JCB',
          'Voyager',
          'Diners Club',
          'Switch',
          'Laser',
          'China UnionPay',
          'AstroPay Card',
        ]),
      ),
    }),
    billingAddress: Type.Optional(ContactObject),
    id: Type.Optional(Type.String()),
    isUsed: Type.Optional(Type.Boolean()),
    riskMetadata: Type.Optional(OrNull(RiskMetadata)),
    leadSource: Type.Optional(LeadSource),
    usageTime: Type.Optional(OrNull(Type.String())),
    expirationTime: Type.Optional(OrNull(Type.String())),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'PaymentCardToken' },
)
export type PaymentCardToken = Static<typeof PaymentCardToken>

export const DigitalWalletValidation = Type.Object(
  { type: Type.Enum(['Apple Pay']) },
  { title: 'DigitalWalletValidation' },
)
export type DigitalWalletValidation = Static<typeof DigitalWalletValidation>

export const PaymentCard = Type.Object(
  {
    id: Type.Optional(Type.String()),
    customerId: Type.Optional(Type.String()),
    method: Type.Enum(['payment-card']),
    status: Type.Optional(Type.Enum(['active', 'inactive', 'expired', 'deactivated', 'verification-needed'])),
    fingerprint: Type.Optional(Type.String()),
    bin: Type.Optional(Type.String()),
    last4: Type.Optional(Type.String()),
    fpanLast4: Type.Optional(OrNull(Type.String())),
    pan: Type.Optional(Type.String()),
    expYear: Type.Optional(Type.Number()),
    expMonth: Type.Optional(Type.Number()),
    cvv: Type.Optional(Type.String()),
    brand: Type.Optional(
      Type.Enum([
        'Visa',
        'MasterCard',
        'American Express',
        'Discover',
        'Maestro',
        'Solo',
        'Electron',
        'JCB',
        'Voyager',
        'Diners Club',
        'Switch',
        'Laser',
        'China UnionPay',
        'AstroPay Card',
      ]),
    ),
    bankCountry: Type.Optional(OrNull(Type.String())),
    bankName: Type.Optional(Type.String()),
    isPayoutable: Type.Optional(Type.Boolean()),
    billingAddress: Type.Optional(ContactObject),
    useAsBackup: Type.Optional(Type.Boolean()),
    billingPortalUrl: Type.Optional(Type.String()),
    lastPaymentTime: Type.Optional(OrNull(Type.String())),
    customFields: Type.Optional(ResourceCustomFields),
    stickyGatewayAccountId: Type.Optional(OrNull(Type.String())),
    expirationReminderTime: Type.Optional(OrNull(Type.String())),
    expirationReminderNumber: Type.Optional(OrNull(Type.Number())),
    referenceData: Type.Optional(Type.Record(Type.String(), Type.String())),
    digitalWallet: Type.Optional(OrNull(Type.Enum(['Apple Pay', 'Google Pay', 'Samsung Pay']))),
    riskMetadata: Type.Optional(OrNull(RiskMetadata)),
    revision: Type.Optional(Type.Number()),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({ customer: Type.Optional(Type.Record(Type.String(), Type.Any())) }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'PaymentCard' },
)
export type PaymentCard = Static<typeof PaymentCard>

export const TransactionQuery = Type.Object(
  {
    transactionId: Type.Optional(Type.String()),
    result: Type.Optional(Type.Enum(['abandoned', 'approved', 'canceled', 'declined', 'unknown'])),
    status: Type.Optional(
      Type.Enum([
        'completed',
        'conn-error',
        'disputed',
        'never-sent',
        'offsite',
        'partially-refunded',
        'pending',
        'refunded',
        'sending',
        'suspended',
        'timeout',
        'voided',
        'waiting-approval',
        'waiting-capture',
        'waiting-gateway',
        'waiting-refund',
      ]),
    ),
    amount: Type.Optional(Type.Number()),
    currency: Type.Optional(Type.String()),
  },
  { title: 'TransactionQuery' },
)
export type TransactionQuery = Static<typeof TransactionQuery>

export const TransactionUpdate = Type.Object(
  {
    result: Type.Enum(['abandoned', 'approved', 'canceled', 'declined']),
    amount: Type.Optional(Type.Number()),
    currency: Type.Optional(Type.String()),
  },
  { title: 'TransactionUpdate' },
)
export type TransactionUpdate = Static<typeof TransactionUpdate>

export const TransactionRefund = Type.Object(
  {
    amount: Type.Number(),
    description: Type.Optional(Type.String()),
    isProcessedOutside: Type.Optional(Type.Boolean()),
  },
  { title: 'TransactionRefund' },
)
export type TransactionRefund = Static<typeof TransactionRefund>

export const TransactionTimeline = Type.Object(
  {
    id: Type.Optional(Type.String()),
    type: Type.Optional(
      OpenEnum([
        'amount-adjusted',
        'blocklist-matched',
        'bump-offer-accepted',
        'bump-offer-presented',
        'bump-offer-rejected',
        'customer-redirected-offsite',
        'customer-returned',
        'dcc-offer-accepted',
        'dcc-offer-forced',
        'dcc-offer-presented',
        'dcc-offer-rejected',
        'dispute-changed',
      ]),
    ),
    triggeredBy: Type.Optional(Type.Enum(['rebilly-side', 'app', 'direct-api'])),
    message: Type.Optional(Type.String()),
    extraData: Type.Optional(TimelineExtraData),
    occurredTime: Type.Optional(Type.String()),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'TransactionTimeline' },
)
export type TransactionTimeline = Static<typeof TransactionTimeline>

export const Dispute = Type.Object(
  {
    id: Type.Optional(Type.String()),
    customerId: Type.Optional(OrNull(Type.String())),
    transactionId: Type.Optional(OrNull(Type.String())),
    currency: Type.Optional(Type.String()),
    amount: Type.Optional(Type.Number()),
    acquirerReferenceNumber: Type.Optional(OrNull(Type.String())),
    caseId: Type.Optional(OrNull(Type.String())),
    reasonCode: Type.Optional(OrNull(Type.String())),
    reasonDescription: Type.Optional(OrNull(Type.String())),
    category: Type.Optional(
      Type.Enum([
        'fraud',
        'authorization',
        'processing-errors',
        'consumer-disputes',
        'uncategorized',
        'bank-return',
      ]),
    ),
    type: Type.Optional(
      Type.Enum([
        'information-request',
        'first-chargeback',
        'second-chargeback',
        'arbitration',
        'fraud',
        'ethoca-alert',
        'verifi-alert',
        'bank-return',
        'paypal-claim',
        'representment',
        'inquiry',
        'forced-refund',
        'collaboration',
      ]),
    ),
    status: Type.Optional(
      Type.Enum(['response-needed', 'under-review', 'forfeited', 'won', 'lost', 'unknown']),
    ),
    postedTime: Type.Optional(Type.String()),
    deadlineTime: Type.Optional(OrNull(Type.String())),
    rawResponse: Type.Optional(OrNull(Type.String())),
    resolvedTime: Type.Optional(OrNull(Type.String())),
    source: Type.Optional(OrNull(Type.Enum(['api', 'manual', 'sftp', 'webhook']))),
    revision: Type.Optional(Type.Number()),
    _links: Type.Optional(Type.Array(Link)),
    _embedded: Type.Optional(
      Type.Object({
        transaction: Type.Optional(Type.Record(Type.String(), Type.Any())),
        customer: Type.Optional(Type.Record(Type.String(), Type.Any())),
      }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'Dispute' },
)
export type Dispute = Static<typeof Dispute>

export const WebhookAuthorizationNone = Type.Object(
  { type: Type.Enum(['none']) },
  { title: 'WebhookAuthorizationNone' },
)
export type WebhookAuthorizationNone = Static<typeof WebhookAuthorizationNone>

export const WebhookAuthorizationBasic = Type.Object(
  { type: Type.Enum(['basic']), username: Type.String(), password: Type.String() },
  { title: 'WebhookAuthorizationBasic' },
)
export type WebhookAuthorizationBasic = Static<typeof WebhookAuthorizationBasic>

export const WebhookAuthorizationDigest = Type.Object(
  { type: Type.Enum(['digest']), username: Type.String(), password: Type.String() },
  { title: 'WebhookAuthorizationDigest' },
)
export type WebhookAuthorizationDigest = Static<typeof WebhookAuthorizationDigest>

export const WebhookAuthorization = Type.Union([
  WebhookAuthorizationNone,
  WebhookAuthorizationBasic,
  WebhookAuthorizationDigest,
])
export type WebhookAuthorization = Static<typeof WebhookAuthorization>

export const WebhookCredential = Type.Object(
  {
    id: Type.Optional(Type.String()),
    hash: Type.Optional(Type.String()),
    status: Type.Optional(Type.Enum(['active', 'inactive', 'deactivated'])),
    deactivationTime: Type.Optional(OrNull(Type.String())),
    type: Type.Enum(['webhook']),
    host: Type.String(),
    auth: Type.Optional(WebhookAuthorization),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'WebhookCredential' },
)
export type WebhookCredential = Static<typeof WebhookCredential>

export const ApiTracking = Type.Object(
  {
    id: Type.Optional(Type.String()),
    status: Type.Optional(Type.Number()),
    url: Type.Optional(Type.String()),
    route: Type.Optional(Type.String()),
    method: Type.Optional(Type.Enum(['HEAD', 'GET', 'POST', 'PUT', 'DELETE', 'PATCH'])),
    request: Type.Optional(Type.String()),
    response: Type.Optional(Type.String()),
    requestHeaders: Type.Optional(HttpHeaders),
    responseHeaders: Type.Optional(HttpHeaders),
    user: Type.Optional(
      Type.Object({
        userId: Type.Optional(Type.String()),
        apiKeyId: Type.Optional(Type.String()),
        email: Type.Optional(Type.String()),
        firstName: Type.Optional(Type.String()),
        lastName: Type.Optional(Type.String()),
        ipAddress: Type.Optional(Type.String()),
        userAgent: Type.Optional(Type.String()),
        fingerprint: Type.Optional(Type.String()),
        isSupport: Type.Optional(Type.Boolean()),
      }),
    ),
    ipAddress: Type.Optional(Type.String()),
    relatedResourceIds: Type.Optional(Type.Array(Type.String())),
    duration: Type.Optional(Type.Number()),
    organizationId: Type.Optional(Type.String()),
    _embedded: Type.Optional(
      Type.Object({ organization: Type.Optional(Type.Record(Type.String(), Type.Any())) }),
    ),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'ApiTracking' },
)
export type ApiTracking = Static<typeof ApiTracking>

export const GlobalEventType = OpenEnum([
  'aml-list-possibly-matched',
  'application-instance-disabled',
  'application-instance-enabled',
  'autodeposit-lookup-performed',
  'balance-transaction-settled',
  'coupon-application-removed',
  'coupon-applied',
  'coupon-expiration-modified',
  'coupon-expired',
  'coupon-issued',
  'coupon-modified',
  'coupon-redeemed',
])
export type GlobalEventType = Static<typeof GlobalEventType>

export const WebhookTracking = Type.Object(
  {
    id: Type.Optional(Type.String()),
    status: Type.Optional(Type.Number()),
    duration: Type.Optional(Type.Number()),
    initiatedTime: Type.Optional(Type.String()),
    url: Type.Optional(Type.String()),
    method: Type.Optional(Type.String()),
    request: Type.Optional(Type.String()),
    response: Type.Optional(Type.String()),
    requestHeaders: Type.Optional(HttpHeaders),
    responseHeaders: Type.Optional(HttpHeaders),
    entityId: Type.Optional(Type.String()),
    organizationId: Type.Optional(Type.String()),
    eventType: Type.Optional(GlobalEventType),
    source: Type.Optional(Type.Enum(['webhooks', 'rules'])),
    attempt: Type.Optional(Type.Number()),
    sentTime: Type.Optional(Type.String()),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'WebhookTracking' },
)
export type WebhookTracking = Static<typeof WebhookTracking>

export const GlobalWebhook = Type.Object(
  {
    id: Type.Optional(Type.String()),
    eventsFilter: Type.Optional(Type.Array(GlobalEventType)),
    status: Type.Optional(Type.Enum(['active', 'inactive'])),
    method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    url: Type.String(),
    headers: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String(),
          status: Type.Optional(Type.Enum(['active', 'inactive'])),
          value: Type.String(),
        }),
      ),
    ),
    credentialHash: Type.String(),
    body: Type.Optional(OrNull(Type.String())),
    filter: Type.Optional(OrNull(Type.String())),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'GlobalWebhook' },
)
export type GlobalWebhook = Static<typeof GlobalWebhook>

export const ArrayCustomField = Type.Object(
  {
    name: Type.Optional(Type.String()),
    type: Type.Enum(['array']),
    description: Type.Optional(OrNull(Type.String())),
    isEnabled: Type.Optional(Type.Boolean()),
    additionalSchema: Type.Optional(
      OrNull(
        Type.Object({
          allowedValues: Type.Optional(Type.Array(Type.String())),
          required: Type.Optional(Type.Boolean()),
          default: Type.Optional(Type.Array(Type.String())),
        }),
      ),
    ),
  },
  { title: 'ArrayCustomField' },
)
export type ArrayCustomField = Static<typeof ArrayCustomField>

export const BooleanCustomField = Type.Object(
  {
    name: Type.Optional(Type.String()),
    type: Type.Enum(['boolean']),
    description: Type.Optional(OrNull(Type.String())),
    isEnabled: Type.Optional(Type.Boolean()),
    additionalSchema: Type.Optional(
      OrNull(
        Type.Object({ required: Type.Optional(Type.Boolean()), default: Type.Optional(Type.Boolean()) }),
      ),
    ),
  },
  { title: 'BooleanCustomField' },
)
export type BooleanCustomField = Static<typeof BooleanCustomField>

export const DateCustomField = Type.Object(
  {
    name: Type.Optional(Type.String()),
    type: Type.Enum(['date']),
    description: Type.Optional(OrNull(Type.String())),
    isEnabled: Type.Optional(Type.Boolean()),
    additionalSchema: Type.Optional(
      OrNull(Type.Object({ required: Type.Optional(Type.Boolean()), default: Type.Optional(Type.String()) })),
    ),
  },
  { title: 'DateCustomField' },
)
export type DateCustomField = Static<typeof DateCustomField>

export const DateTimeCustomField = Type.Object(
  {
    name: Type.Optional(Type.String()),
    type: Type.Enum(['datetime']),
    description: Type.Optional(OrNull(Type.String())),
    isEnabled: Type.Optional(Type.Boolean()),
    additionalSchema: Type.Optional(
      OrNull(Type.Object({ required: Type.Optional(Type.Boolean()), default: Type.Optional(Type.String()) })),
    ),
  },
  { title: 'DateTimeCustomField' },
)
export type DateTimeCustomField = Static<typeof DateTimeCustomField>

export const IntegerCustomField = Type.Object(
  {
    name: Type.Optional(Type.String()),
    type: Type.Enum(['integer']),
    description: Type.Optional(OrNull(Type.String())),
    isEnabled: Type.Optional(Type.Boolean()),
    additionalSchema: Type.Optional(
      OrNull(
        Type.Object({
          minimum: Type.Optional(Type.Number()),
          maximum: Type.Optional(Type.Number()),
          required: Type.Optional(Type.Boolean()),
          default: Type.Optional(Type.Number()),
        }),
      ),
    ),
  },
  { title: 'IntegerCustomField' },
)
export type IntegerCustomField = Static<typeof IntegerCustomField>

export const NumberCustomField = Type.Object(
  {
    name: Type.Optional(Type.String()),
    type: Type.Enum(['number']),
    description: Type.Optional(OrNull(Type.String())),
    isEnabled: Type.Optional(Type.Boolean()),
    additionalSchema: Type.Optional(
      OrNull(
        Type.Object({
          minimum: Type.Optional(Type.Number()),
          maximum: Type.Optional(Type.Number()),
          required: Type.Optional(Type.Boolean()),
          default: Type.Optional(Type.Number()),
        }),
      ),
    ),
  },
  { title: 'NumberCustomField' },
)
export type NumberCustomField = Static<typeof NumberCustomField>

export const StringCustomField = Type.Object(
  {
    name: Type.Optional(Type.String()),
    type: Type.Enum(['string']),
    description: Type.Optional(OrNull(Type.String())),
    isEnabled: Type.Optional(Type.Boolean()),
    additionalSchema: Type.Optional(
      OrNull(
        Type.Object({
          allowedValues: Type.Optional(Type.Array(Type.String())),
          maxLength: Type.Optional(Type.Number()),
          pattern: Type.Optional(Type.String()),
          required: Type.Optional(Type.Boolean()),
          default: Type.Optional(Type.String()),
        }),
      ),
    ),
  },
  { title: 'StringCustomField' },
)
export type StringCustomField = Static<typeof StringCustomField>

export const MonetaryCustomField = Type.Object(
  {
    name: Type.Optional(Type.String()),
    type: Type.Enum(['monetary']),
    description: Type.Optional(OrNull(Type.String())),
    isEnabled: Type.Optional(Type.Boolean()),
    additionalSchema: Type.Optional(
      OrNull(
        Type.Object({
          required: Type.Optional(Type.Boolean()),
          default: Type.Optional(
            Type.Object({ currency: Type.Optional(Type.String()), amount: Type.Optional(Type.Number()) }),
          ),
        }),
      ),
    ),
  },
  { title: 'MonetaryCustomField' },
)
export type MonetaryCustomField = Static<typeof MonetaryCustomField>

export const AllowedIps = OrNull(Type.Array(Type.String()))
export type AllowedIps = Static<typeof AllowedIps>

export const DigitalWallets = Type.Object(
  {
    applePay: Type.Optional(
      Type.Object({
        isEnabled: Type.Boolean(),
        displayName: Type.Optional(OrNull(Type.String())),
        country: Type.Optional(Type.String()),
      }),
    ),
    googlePay: Type.Optional(
      Type.Object({
        isEnabled: Type.Boolean(),
        merchantName: Type.Optional(OrNull(Type.String())),
        merchantOrigin: Type.Optional(OrNull(Type.String())),
        country: Type.Optional(Type.String()),
      }),
    ),
  },
  { title: 'DigitalWallets' },
)
export type DigitalWallets = Static<typeof DigitalWallets>

export const GatewayAccount = Type.Object(
  {
    id: Type.Optional(Type.String()),
    gatewayName: Type.String(),
    acquirerName: Type.Optional(Type.String()),
    method: Type.String(),
    acceptedCurrencies: Type.Array(Type.String()),
    paymentCardSchemes: Type.Optional(
      Type.Array(
        Type.Enum([
          'Visa',
          'MasterCard',
          'American Express',
          'Discover',
          'Maestro',
          'Solo',
          'Electron',
          'JCB',
          'Voyager',
          'Diners Club',
          'Switch',
          'Laser',
          'China UnionPay',
          'AstroPay Card',
        ]),
      ),
    ),
    status: Type.Optional(Type.Enum(['active', 'inactive', 'pending', 'closed'])),
    merchantCategoryCode: Type.Optional(Type.String()),
    dccMarkup: Type.Optional(OrNull(Type.Number())),
    dccForceCurrency: Type.Optional(OrNull(Type.String())),
    dccForceConfirmation: Type.Optional(Type.Boolean()),
    dccForceRounding: Type.Optional(Type.Boolean()),
    descriptor: Type.Optional(OrNull(Type.String())),
    cityField: Type.Optional(OrNull(Type.String())),
    excludedDccQuoteCurrencies: Type.Optional(Type.Array(Type.String())),
    monthlyLimit: Type.Optional(OrNull(Type.Number())),
    approvalWindowTtl: Type.Optional(Type.Number()),
    reconciliationWindowEnabled: Type.Optional(Type.Boolean()),
    reconciliationWindowTtl: Type.Optional(OrNull(Type.Number())),
    threeDSecure: Type.Optional(Type.Boolean()),
    dynamicDescriptor: Type.Optional(Type.Boolean()),
    digitalWallets: Type.Optional(DigitalWallets),
    isDown: Type.Optional(Type.Boolean()),
    additionalFilters: Type.Optional(OrNull(Type.String())),
    timeout: Type.Optional(OrNull(Type.Number())),
    token: Type.Optional(OrNull(Type.String())),
    sticky: Type.Optional(Type.Boolean()),
    setupInstruction: Type.Optional(Type.Enum(['authorize', 'authorize-and-void', 'sca', 'do-nothing'])),
    readyToPayoutInstruction: Type.Optional(Type.Enum(['all', 'covered-payout', 'approved-payment', 'none'])),
    payoutLimits: Type.Optional(OrNull(Type.Record(Type.String(), Type.Any()))),
    transactionEmailAliasTemplate: Type.Optional(OrNull(Type.String())),
    customFields: Type.Optional(ResourceCustomFields),
    organizationId: Type.Optional(Type.String()),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'GatewayAccount' },
)
export type GatewayAccount = Static<typeof GatewayAccount>

export const ApiKey = Type.Object(
  {
    id: Type.Optional(Type.String()),
    description: Type.String(),
    type: Type.Optional(Type.Enum(['secret', 'publishable'])),
    acl: Type.Optional(Acl),
    allowedIps: Type.Optional(AllowedIps),
    apiUser: Type.Optional(Type.String()),
    secretKey: Type.Optional(Type.String()),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
    _links: Type.Optional(Type.Array(Link)),
  },
  { title: 'ApiKey' },
)
export type ApiKey = Static<typeof ApiKey>

export const Organization = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String(),
    website: Type.Optional(Type.String()),
    address: Type.Optional(OrNull(Type.String())),
    address2: Type.Optional(OrNull(Type.String())),
    city: Type.Optional(OrNull(Type.String())),
    region: Type.Optional(OrNull(Type.String())),
    country: OrNull(Type.String()),
    postalCode: Type.Optional(Type.String()),
    phoneNumbers: Type.Optional(ContactPhoneNumbers),
    emails: Type.Optional(ContactEmails),
    taxDescriptor: Type.Optional(OrNull(Type.String())),
    invoiceTimeZone: Type.Optional(Type.String()),
    reportCurrency: Type.Optional(Type.String()),
    questionnaire: Type.Optional(
      OrNull(
        Type.Object({
          role: Type.Optional(OrNull(Type.String())),
          monthlyTransactions: Type.Optional(OrNull(Type.String())),
          products: Type.Optional(OrNull(Type.Array(Type.String()))),
          integrationType: Type.Optional(OrNull(Type.String())),
          launchTiming: Type.Optional(OrNull(Type.String())),
        }),
      ),
    ),
    settings: Type.Optional(
      Type.Object({
        defaultTaxCalculator: Type.Optional(
          Type.Object({
            type: Type.Enum(['taxjar', 'avalara', 'flat']),
            rate: Type.Optional(OrNull(Type.Number())),
          }),
        ),
        billing: Type.Optional(
          OrNull(
            Type.Object({
              pendingOrderTtl: Type.Optional(OrNull(Type.String())),
              orderDelinquencyPeriod: Type.Optional(OrNull(Type.String())),
              subtractRecurringDiscountsFromMrr: Type.Optional(Type.Boolean()),
              subtractOneTimeDiscountsFromMrr: Type.Optional(Type.Boolean()),
            }),
          ),
        ),
        taxLocations: Type.Optional(
          Type.Array(
            Type.Object({
              address: Type.Optional(OrNull(Type.String())),
              city: Type.Optional(OrNull(Type.String())),
              region: Type.Optional(OrNull(Type.String())),
              country: Type.String(),
              postalCode: Type.Optional(OrNull(Type.String())),
            }),
          ),
        ),
        notifications: Type.Optional(
          Type.Object({
            notifyOnUserAccessChanges: Type.Optional(Type.Boolean()),
            notifyOnApiKeyAccessChanges: Type.Optional(Type.Boolean()),
            notificationEmailAddresses: Type.Optional(Type.Array(Type.String())),
          }),
        ),
        annualComplianceScreening: Type.Optional(
          Type.Object({
            enabled: Type.Optional(Type.Boolean()),
            monthDay: Type.Optional(OrNull(Type.String())),
          }),
        ),
        payoutRequestAllocationOrder: Type.Optional(OrNull(Type.Array(Type.String()))),
      }),
    ),
    taxNumbers: Type.Optional(OrNull(Type.Array(TaxNumber))),
    features: Type.Optional(
      Type.Array(
        Type.Object({ name: Type.Optional(Type.String()), description: Type.Optional(Type.String()) }),
      ),
    ),
    _links: Type.Optional(Type.Array(Link)),
    replayOrganizationId: Type.Optional(OrNull(Type.String())),
    createdTime: Type.Optional(Type.String()),
    updatedTime: Type.Optional(Type.String()),
  },
  { title: 'Organization' },
)
export type Organization = Static<typeof Organization>

export const Status = Type.Object(
  {
    status: Type.Optional(Type.Enum(['ok'])),
    time: Type.Optional(Type.String()),
    release: Type.Optional(Type.String()),
  },
  { title: 'Status' },
)
export type Status = Static<typeof Status>

export const EventType = Type.Enum([
  'account-password-reset-requested',
  'account-verification-requested',
  'aml-list-possibly-matched',
  'application-instance-disabled',
  'application-instance-enabled',
  'balance-transaction-settled',
  'coupon-application-removed',
  'coupon-applied',
  'coupon-expiration-modified',
  'coupon-expired',
  'coupon-issued',
  'coupon-modified',
  'coupon-redeemed',
  'coupon-redemption-canceled',
  'customer-created',
  'customer-one-time-password-requested',
  'customer-updated',
  'dispute-created',
  'dispute-modified',
  'experian-check-performed',
  'gateway-account-downtime-ended',
  'gateway-account-downtime-started',
  'gateway-account-limit-reached',
  'gateway-account-onboarding-completed',
  'gateway-account-onboarding-failed',
  'gateway-account-requested',
  'hard-usage-limit-reached',
  'invoice-abandoned',
  'invoice-issued',
  'invoice-modified',
  'invoice-paid',
  'invoice-partially-paid',
  'invoice-partially-refunded',
  'invoice-past-due',
  'invoice-past-due-reminder',
  'invoice-refunded',
  'invoice-revenue-recognized',
  'invoice-tax-calculation-failed',
  'invoice-voided',
  'kyc-document-accepted',
  'kyc-document-modified',
  'kyc-document-rejected',
  'kyc-request-fulfilled',
  'order-abandon-reminder',
  'order-abandoned',
  'order-completed',
  'payment-card-created',
  'payment-card-expiration-reminder',
  'payment-card-expired',
  'payment-instrument-modified',
  'payout-request-created',
  'payout-request-modified',
  'quote-accepted',
  'quote-canceled',
  'quote-created',
  'quote-expired',
  'quote-issued',
  'quote-recalled',
  'quote-rejected',
  'quote-updated',
  'ready-to-pay-requested',
  'ready-to-payout-requested',
  'renewal-invoice-issued',
  'renewal-invoice-payment-canceled',
  'renewal-invoice-payment-declined',
  'risk-score-changed',
  'soft-usage-limit-reached',
  'subscription-activated',
  'subscription-canceled',
  'subscription-churned',
  'subscription-created',
  'subscription-downgraded',
  'subscription-items-changed',
  'subscription-modified',
  'subscription-pause-created',
  'subscription-pause-modified',
  'subscription-pause-revoked',
  'subscription-paused',
  'subscription-quantity-filled-limit-reached',
  'subscription-reactivated',
  'subscription-renewal-reminder',
  'subscription-renewed',
  'subscription-resumed',
  'subscription-trial-converted',
  'subscription-trial-end-changed',
  'subscription-trial-end-reminder',
  'subscription-trial-ended',
  'subscription-upgraded',
  'transaction-amount-discrepancy-found',
  'transaction-declined',
  'transaction-discrepancy-found',
  'transaction-process-requested',
  'transaction-processed',
  'trial-usage-limit-reached',
  'order-delinquency-reached',
  'autodeposit-lookup-performed',
])
export type EventType = Static<typeof EventType>

export const SHAPES = {
  DigitalWallets,
  GatewayAccount,
  ResourceCustomFields,
  ContactPhoneNumbers,
  ContactEmails,
  ContactObject,
  Link,
  Company,
  CustomerAverageValue,
  CustomerLifetimeRevenue,
  Tag,
  TaxNumber,
  LeadSourceData,
  Customer,
  LeadSource,
  RedemptionCancelTimelineAction,
  ResendEmailTimelineAction,
  RulesetRestoreTimelineAction,
  TimelineAction,
  TimelineTable,
  TimelineExtraData,
  CustomerTimeline,
  CustomerCreditBalance,
  AuthenticationOptions,
  AuthenticationTokenResponse,
  AuthenticationTokenPasswordMode,
  AuthenticationTokenPasswordlessMode,
  ApiKeyScope,
  AclPermissions,
  Acl,
  CustomerJWT,
  CustomerCredential,
  ResetPasswordToken,
  Website,
  Product,
  PlanFormulaFixedFee,
  PlanFormulaFlatRate,
  PlanFormulaStairstep,
  PlanFormulaTiered,
  PlanFormulaVolume,
  PlanPriceFormula,
  PlanSetup,
  OneTimeSalePlan,
  SchedulingMethodDayOfMonth,
  SchedulingMethodDayOfWeek,
  SchedulingMethodDayAndMonthOfYear,
  ServicePeriodAnchorInstruction,
  PlanTrial,
  InvoiceTimeShift,
  SubscriptionPlan,
  TrialOnlyPlan,
  OriginalPlan,
  FlexiblePlan,
  UsageLimits,
  UsageStatus,
  SubscriptionOrOneTimeSaleItem,
  ManualShipping,
  Shipping,
  HttpHeaders,
  RiskMetadata,
  Subscription,
  OneTimeSale,
  SubscriptionChange,
  OrderItemUpdate,
  SubscriptionInvoice,
  TaxItem,
  UpcomingInvoiceItem,
  ManualTax,
  Taxes,
  UpcomingInvoice,
  InvoiceIssue,
  OrderTimeline,
  ShippingOption,
  ShippingRate,
  OrderPreview,
  SubscriptionPause,
  SubscriptionCancellation,
  SubscriptionReactivation,
  DiscountFixed,
  DiscountPercent,
  Discount,
  CouponRestrictionDiscountPerRedemption,
  CouponRestrictionMaximumOrderAmount,
  CouponRestrictionMinimumOrderAmount,
  CouponRestrictionPaidByTime,
  CouponRestrictionRestrictToInvoices,
  CouponRestrictionRestrictToPlans,
  CouponRestrictionRestrictToProducts,
  CouponRestrictionRestrictToSubscriptions,
  CouponRestrictionExclusiveApplication,
  CouponRestrictionRedemptionsPerCustomer,
  CouponRestrictionRestrictToBxgy,
  CouponRestrictionRestrictToCountries,
  CouponRestrictionRestrictToCustomerTags,
  CouponRestrictionRestrictToCustomers,
  CouponRestrictionTotalRedemptions,
  RedemptionRestriction,
  CouponRestriction,
  CouponRedemption,
  Coupon,
  CouponExpiration,
  InvoiceItem,
  CreditMemoInvoiceAllocation,
  VaultedInstrument,
  AlternativePaymentInstrument,
  CashInstrument,
  CheckInstrument,
  Money,
  TransactionLimitAmount,
  Transaction,
  PeriodAnchor,
  SchedulingMethodDateInterval,
  SchedulingMethodImmediately,
  SchedulingMethodIntelligent,
  InvoiceRetryScheduleInstruction,
  AmountAdjustmentPoliciesNone,
  AmountAdjustmentPoliciesDiscountAmountRemaining,
  AmountAdjustmentInstructionPartial,
  AmountAdjustmentInstructionNone,
  InvoiceRetryAmountAdjustmentInstruction,
  Invoice,
  InvoiceReissue,
  InvoiceTransactionAllocation,
  InvoiceCreditMemoAllocationRequest,
  InvoiceAppliedCreditMemoAllocation,
  InvoiceCreditMemoAllocationResponse,
  InvoiceTransaction,
  InvoiceTimeline,
  CreditMemoTaxItem,
  CreditMemo,
  CreditMemoTimeline,
  PaymentCardToken,
  DigitalWalletValidation,
  PaymentCard,
  TransactionQuery,
  TransactionUpdate,
  TransactionRefund,
  TransactionTimeline,
  Dispute,
  WebhookAuthorizationNone,
  WebhookAuthorizationBasic,
  WebhookAuthorizationDigest,
  WebhookAuthorization,
  WebhookCredential,
  ApiTracking,
  GlobalEventType,
  WebhookTracking,
  GlobalWebhook,
  ArrayCustomField,
  BooleanCustomField,
  DateCustomField,
  DateTimeCustomField,
  IntegerCustomField,
  NumberCustomField,
  StringCustomField,
  MonetaryCustomField,
  AllowedIps,
  ApiKey,
  Organization,
  Status,
  EventType,
}
export type ShapeName = keyof typeof SHAPES
