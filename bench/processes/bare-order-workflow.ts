import { proxyLocalActivities, sleep } from '@temporalio/workflow'

const { activate } = proxyLocalActivities<{ activate(id: string): Promise<void> }>({
  startToCloseTimeout: '1 minute',
})

/** The least that an order's execution does when it is due: one statement, and a timer for what is due next. */
export async function bareOrder(id: string): Promise<void> {
  await activate(id)
  await sleep('30 days')
}
