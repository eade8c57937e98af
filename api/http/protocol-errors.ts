import { randomUUID } from 'node:crypto'
import type { Middleware } from 'koa'
import { PROBLEMS, Problem, problemBody } from './problems.ts'
import type { ApiState } from './state.ts'

export const requireProtocol: Middleware<ApiState> = async (ctx, next) => {
  const { headers, httpVersion } = ctx.req
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw new Problem('expectation-failed', 'Send the request without the Expect header.')
  }
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new Problem('malformed-request', 'Send a Host header.')
  }
  await next()
}

/** Returns the raw response to a request that the server could not read, by the server's error code. */
export function unreadResponse(
  code: string | undefined,
  baseUrl: string,
): { readonly requestId: string; readonly status: number; readonly text: string } {
  const problem = problemOf(code)
  const { status } = problem
  const requestId = randomUUID()
  const body = problemBody(problem, baseUrl, requestId)
  const lines = [
    `HTTP/1.1 ${status} ${PROBLEMS[problem.code].title}`,
    `Date: ${new Date().toUTCString()}`,
    `Request-Id: ${requestId}`,
    'Connection: close',
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  return { requestId, status, text: `${lines.join('\r\n')}\r\n\r\n${body}` }
}

function problemOf(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem(
        'request-header-too-large',
        'The path, query and headers of the request exceed 16 KiB.',
      )
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new Problem('payload-too-large', 'The chunk extensions of the request are too large.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request-timeout', 'The request did not arrive completely in time.')
    default:
      return new Problem('malformed-request', 'The request is not valid HTTP.')
  }
}
