import { connect } from 'node:net'

/** Sends lines as they are, for what no client would send. Returns everything until the connection is closed. */
export async function rawRequest(baseUrl: string, lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(baseUrl)
  const socket = connect(Number(port), hostname)
  socket.setEncoding('latin1')
  socket.write(lines.join('\r\n'))
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}
