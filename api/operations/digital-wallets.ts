import { InvalidFieldsError } from '../../billing/errors.ts'
import { sessionHost } from '../../wallets/session-hosts.ts'
import type { OperationContext, OperationResponse } from '../operation.ts'
import type { DigitalWalletValidation } from '../schemas/digital-wallet.ts'

export async function postDigitalWalletValidation(context: OperationContext): Promise<OperationResponse> {
  const { type, validationRequest } = context.body<DigitalWalletValidation>()
  const { validationUrl, domainName, displayName } = validationRequest
  const checked = sessionHost(validationUrl)
  if ('problem' in checked) {
    const field = 'validationRequest.validationUrl'
    throw new InvalidFieldsError([{ field, code: 'not-allowed', message: checked.problem }])
  }
  const { organizationId, wallet } = context
  const { host } = checked
  const validationResponse = await wallet.validate({ organizationId, host, domainName, displayName })
  return await context.commit(async () => ({ body: { type, validationResponse } }))
}
