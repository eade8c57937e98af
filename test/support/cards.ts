/** The published test cards. None of these numbers may be found in what a test run leaves behind. */
export const TEST_CARDS = {
  approves: '4111111111111111',
  approvesToo: '5555555555554444',
  declines: '4000000000000002',
  lacksFunds: '4000000000009995',
  answersLate: '4000000000000119',
  declinesRenewals: '4000000000000341',
  expired: '4000000000000069',
  lost: '4000000000009987',
  stolen: '4000000000009979',
  asksAlways: '4000002760003184',
  disputed: '4000000000000259',
  asksIfPresent: '4000003800000446',
} as const

/** No other number of the tests contains it. */
export const TEST_CVV = '9173'
