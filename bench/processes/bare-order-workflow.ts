import { proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow'

const { activate } = proxyLocalActivities<{ activate(id: string): Promise<void> }>({
  startToCloseTimeout: '1 minute',
})

const { charge } = proxyActivities<{ charge(id: string): Promise<void> }>({
  startToCloseTimeout: '1 minute',
  retry: { backoffCoefficient: 1 },
})

/** The least that an order's execution does when it is due: one statement, and a timer for what is due next. */
export async function bareOrder(id: string): Promise<void> {
  await activate(id)
  await sleep('30 days')
}

/** The least that a charged renewal takes: one request to the provider, and the same. */
export async function bareRenewal(id: string): Promise<void> {
  await charge(id)
  await bareOrder(id)
}
