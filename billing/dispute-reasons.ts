/**
 * What the card networks call their reason codes, as published for merchants:
 *
 * - Visa: Visa Core Rules and Visa Product and Service Rules, dispute conditions;
 * - Mastercard: Chargeback Guide, Merchant Edition;
 * - American Express: Merchant Operating Guide, dispute codes;
 * - Discover: Dispute Rules Manual, reason codes in their short and numeric forms.
 *
 * A code that two networks use with different meanings has no entry.
 */
const VISA = {
  '10.1': 'EMV Liability Shift Counterfeit Fraud',
  '10.2': 'EMV Liability Shift Non-Counterfeit Fraud',
  '10.3': 'Other Fraud: Card-Present Environment',
  '10.4': 'Other Fraud: Card-Absent Environment',
  '10.5': 'Visa Fraud Monitoring Program',
  '11.1': 'Card Recovery Bulletin',
  '11.2': 'Declined Authorization',
  '11.3': 'No Authorization',
  '12.1': 'Late Presentment',
  '12.2': 'Incorrect Transaction Code',
  '12.3': 'Incorrect Currency',
  '12.4': 'Incorrect Account Number',
  '12.5': 'Incorrect Amount',
  '12.6': 'Duplicate Processing/Paid by Other Means',
  '12.7': 'Invalid Data',
  '13.1': 'Merchandise/Services Not Received',
  '13.2': 'Cancelled Recurring Transaction',
  '13.3': 'Not as Described or Defective Merchandise/Services',
  '13.4': 'Counterfeit Merchandise',
  '13.5': 'Misrepresentation',
  '13.6': 'Credit Not Processed',
  '13.7': 'Cancelled Merchandise/Services',
  '13.8': 'Original Credit Transaction Not Accepted',
  '13.9': 'Non-Receipt of Cash or Load Transaction Value',
}

const MASTERCARD = {
  '4807': 'Warning Bulletin File',
  '4808': 'Authorization-Related Chargeback',
  '4812': 'Account Number Not on File',
  '4831': 'Incorrect Transaction Amount',
  '4834': 'Point-of-Interaction Error',
  '4837': 'No Cardholder Authorization',
  '4840': 'Fraudulent Processing of Transactions',
  '4841': 'Cancelled Recurring or Digital Goods Transactions',
  '4842': 'Late Presentment',
  '4846': 'Correct Transaction Currency Code Not Provided',
  '4849': 'Questionable Merchant Activity',
  '4850': 'Installment Billing Dispute',
  '4853': 'Cardholder Dispute',
  '4854': 'Cardholder Dispute Not Classified Elsewhere',
  '4855': 'Goods or Services Not Provided',
  '4859': 'Addendum, No-show, or ATM Dispute',
  '4860': 'Credit Not Processed',
  '4870': 'Chip Liability Shift',
  '4871': 'Chip Liability Shift: Lost/Stolen/Never Received Issue Fraud',
}

const AMERICAN_EXPRESS = {
  A01: 'Charge Amount Exceeds Authorization Amount',
  A02: 'No Valid Authorization',
  A08: 'Authorization Approval Expired',
  C02: 'Credit Not Processed',
  C04: 'Goods/Services Returned or Refused',
  C05: 'Goods/Services Canceled',
  C08: 'Goods/Services Not Received or Only Partially Received',
  C14: 'Paid by Other Means',
  C18: '"No Show" or CARDeposit Canceled',
  C28: 'Canceled Recurring Billing',
  C31: 'Goods/Services Not as Described',
  C32: 'Goods/Services Damaged or Defective',
  F10: 'Missing Imprint',
  F14: 'Missing Signature',
  F24: 'No Card Member Authorization',
  F29: 'Card Not Present',
  F30: 'EMV Counterfeit',
  F31: 'EMV Lost/Stolen/Non-Received',
  FR2: 'Fraud Full Recourse Program',
  FR4: 'Immediate Chargeback Program',
  FR6: 'Partial Immediate Chargeback Program',
  M01: 'Chargeback Authorization',
  M10: 'Vehicle Rental: Capital Damages',
  M49: 'Vehicle Rental: Theft or Loss of Use',
  P01: 'Unassigned Card Number',
  P03: 'Credit Processed as Charge',
  P04: 'Charge Processed as Credit',
  P05: 'Incorrect Charge Amount',
  P07: 'Late Submission',
  P08: 'Duplicate Charge',
  P22: 'Non-Matching Card Number',
  P23: 'Currency Discrepancy',
  R03: 'Insufficient Reply',
  R13: 'No Reply',
}

const DISCOVER = {
  AA: 'Does Not Recognize',
  '4752': 'Does Not Recognize',
  AP: 'Recurring Payments',
  '4541': 'Recurring Payments',
  AT: 'Authorization Noncompliance',
  AW: 'Altered Amount',
  '4586': 'Altered Amount',
  CD: 'Credit/Debit Posted Incorrectly',
  '4550': 'Credit/Debit Posted Incorrectly',
  DC: 'Dispute Compliance',
  DP: 'Duplicate Processing',
  '4534': 'Duplicate Processing',
  IN: 'Invalid Card Number',
  '4753': 'Invalid Card Number',
  LP: 'Late Presentation',
  '4542': 'Late Presentation',
  NF: 'Non-Receipt of Cash from ATM',
  PM: 'Paid by Other Means',
  '4865': 'Paid by Other Means',
  RG: 'Non-Receipt of Goods, Services, or Cash',
  '4755': 'Non-Receipt of Goods, Services, or Cash',
  RM: 'Cardholder Disputes Quality of Goods or Services',
  '4553': 'Cardholder Disputes Quality of Goods or Services',
  RN2: 'Credit Not Processed',
  '8002': 'Credit Not Processed',
  UA01: 'Fraud: Card Present Transaction',
  '7010': 'Fraud: Card Present Transaction',
  UA02: 'Fraud: Card Not Present Transaction',
  '7030': 'Fraud: Card Not Present Transaction',
  UA05: 'Fraud: Chip Counterfeit Transaction',
  '4866': 'Fraud: Chip Counterfeit Transaction',
  UA06: 'Fraud: Chip and PIN Transaction',
  '4867': 'Fraud: Chip and PIN Transaction',
}

/** Texts by network, then by reason code. No code has two. */
export const DISPUTE_REASONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Visa: VISA,
  MasterCard: MASTERCARD,
  'American Express': AMERICAN_EXPRESS,
  Discover: DISCOVER,
}

const TEXTS: ReadonlyMap<string, string> = new Map(
  Object.values(DISPUTE_REASONS).flatMap((codes) => Object.entries(codes)),
)

/** Returns the network's text for a reason code; null for an unknown one. */
export function disputeReason(reasonCode: string): string | null {
  return TEXTS.get(reasonCode) ?? null
}
