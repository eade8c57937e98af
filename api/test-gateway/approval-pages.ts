/** Pages of the sandbox's test gateway in place of a bank's (3-D Secure). An answer is recorded at once. */
import type Router from '@koa/router'
import type { EntityManager } from '@mikro-orm/postgresql'
import { ID_PATTERN } from '../../billing/id-format.ts'
import { plainAmount } from '../../billing/money.ts'
import { heldBy, lastRoute } from '../../commands/payments/gateway-routes.ts'
import { recordFoundResult } from '../../commands/payments/query-transaction.ts'
import { Transaction } from '../../db/entities/index.ts'
import { inOrganization } from '../../db/organization-scope.ts'
import { inUnitOfWork } from '../../db/unit-of-work.ts'
import { returnPage } from '../../gateways/return-page.ts'
import type { Approval, Approvals, DecidedCharge } from '../../gateways/test-gateway.ts'
import { Problem } from '../http/problems.ts'
import type { ApiState } from '../http/state.ts'
import { escapeHtml, PLAIN_PAGE_HEADERS, plainPage } from '../pages/plain-page.ts'

interface PageDependencies {
  readonly approvals: Approvals
  readonly em: () => EntityManager
  readonly baseUrl: string
}

const ID = new RegExp(ID_PATTERN)

export function approvalPages(router: Router<ApiState>, { approvals, em, baseUrl }: PageDependencies): void {
  const found = async (id = ''): Promise<Approval> => {
    const approval = ID.test(id) ? await approvals.approval(id) : null
    if (approval === null) throw new Problem('not-found', 'No payment waits for an approval here.')
    // Earlier versions took addresses that cannot be parsed.
    return URL.canParse(approval.returnUrl) ? approval : { ...approval, returnUrl: returnPage(baseUrl) }
  }

  router.get('/test-gateway/approvals/:id', async (ctx) => {
    const approval = await found(ctx.params.id)
    ctx.set(headersFor(approval))
    ctx.type = 'text/html; charset=utf-8'
    ctx.body = approval.isWaiting ? question(ctx.params.id ?? '', approval) : noQuestion(approval)
  })

  for (const [answer, approves] of [
    ['approve', true],
    ['refuse', false],
  ] as const) {
    router.post(`/test-gateway/approvals/:id/${answer}`, async (ctx) => {
      const { id } = ctx.params
      const approval = await found(id)
      const decided = await approvals.decide(id ?? '', approves)
      if (decided !== null) await record(decided)
      ctx.set(headersFor(approval))
      ctx.status = 303
      ctx.redirect(approval.returnUrl)
    })
  }

  async function record({ organizationId, requestId, outcome }: DecidedCharge): Promise<void> {
    await inOrganization(organizationId, () =>
      inUnitOfWork(em(), { organizationId, baseUrl, now: new Date() }, async (unit) => {
        const charged = await unit.em.findOne(Transaction, { organizationId, requestId })
        if (charged === null) return
        const route = await lastRoute(unit.em, organizationId, requestId)
        const held = await heldBy(unit.em, charged, route)
        await recordFoundResult(unit, charged.id, { ...outcome, ...held })
      }),
    )
  }
}

/** The browser follows a form only to these origins, also where the response redirects it. */
function headersFor({ returnUrl }: Approval): Record<string, string> {
  const policy = PLAIN_PAGE_HEADERS['Content-Security-Policy']
  const origins = `form-action 'self' ${new URL(returnUrl).origin}`
  return {
    ...PLAIN_PAGE_HEADERS,
    'Content-Security-Policy': policy.replace("form-action 'none'", origins),
    'Cache-Control': 'no-store',
  }
}

// The addresses of the forms are relative: a proxy may show the service below a path.
function question(id: string, { amount, currency, last4 }: Approval): string {
  return plainPage(
    'Approve this payment?',
    `<p>Test bank: ${escapeHtml(currency)} ${escapeHtml(plainAmount(amount))} with the card ending in ${escapeHtml(last4)}. No money moves in the sandbox.</p>
<form method="post" action="${encodeURIComponent(id)}/approve"><button>Approve</button></form>
<form method="post" action="${encodeURIComponent(id)}/refuse"><button>Refuse</button></form>`,
  )
}

function noQuestion({ returnUrl }: Approval): string {
  return plainPage(
    'This payment has been answered',
    `<p>It no longer waits for you. <a href="${escapeHtml(returnUrl)}">Back to the shop</a></p>`,
  )
}
