import { createCustomer } from '../../db/commands/create-customer.ts'
import { Customer as CustomerRow } from '../../db/entities/index.ts'
import { presentCustomer } from '../../db/representations/customer.ts'
import { command, type OperationAnswer, type OperationContext } from '../operation.ts'
import { answerCreated, readOne } from '../resource.ts'
import type { Customer } from '../schemas/customer.ts'

export async function create(context: OperationContext): Promise<OperationAnswer> {
  const body = context.body as Customer
  const row = await command(context, async (unit) =>
    createCustomer(unit, {
      email: body.email ?? null,
      firstName: body.firstName ?? null,
      lastName: body.lastName ?? null,
      websiteId: body.websiteId ?? null,
      customFields: body.customFields ?? null,
    }),
  )
  return answerCreated(context, 'customers', row, presentCustomer)
}

export async function read(context: OperationContext): Promise<OperationAnswer> {
  return await readOne(context, CustomerRow, presentCustomer)
}
