import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { logOutput } from './log-output.ts'

const SECRET_MEMBERS = [
  'pan',
  'cvv',
  'password',
  'secretKey',
  'paymentToken',
  'token',
  'authorization',
  'svc-apikey',
  'SVC-APIKEY',
]
/** Values that are secrets under any name: key values, and runs of digits as long as a card number. */
const SECRET_VALUES = /\b[sp]k_(?:sandbox|live)_[A-Za-z0-9_-]{8,}|\b(?:\d[ -]?){13,19}\b/g

export function createLog(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: null,
      redact: {
        paths: SECRET_MEMBERS.flatMap((name) => [`["${name}"]`, `*["${name}"]`]),
        censor: '[redacted]',
      },
      serializers: { err: serializeError },
    },
    destination ?? logOutput(),
  )
}

/** Without the values that a database driver or an HTTP client attaches. */
function serializeError(error: unknown): object {
  if (!Error.isError(error)) return { message: mask(String(error)) }
  const { type, message, stack } = stdSerializers.err(error)
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  return { type, message: mask(message), stack: mask(stack), ...code }
}

function mask(text: string): string {
  return text.replaceAll(SECRET_VALUES, '[redacted]')
}
