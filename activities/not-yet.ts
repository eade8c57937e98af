import { InfrastructureError } from '../db/infrastructure-failure.ts'

/** The activity is made again after `wait` milliseconds, as if it had not been tried. */
export class NotYetError extends InfrastructureError {
  override readonly name = 'NotYetError'
  readonly wait: number

  constructor(message: string, wait: number, options?: ErrorOptions) {
    super(message, options)
    this.wait = wait
  }
}
