/** A receiver that reads what comes, counts it when it is signed, and answers 200. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerCalls } from '../helper.ts'

export type ReceiverCalls = {
  /** The URL it receives at. */
  listen(none: null): Promise<string>
  /** Counts from nothing again. */
  reset(none: null): Promise<void>
  /** Resolves when as many have come since the last reset. */
  until(count: number): Promise<void>
}

let came = 0
let wanted = Number.POSITIVE_INFINITY
let reached: () => void = () => {}

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(200).end()
    if (request.headers['security-signature'] !== undefined) came += 1
    if (came >= wanted) reached()
  })
})

answerCalls({
  async listen() {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  },
  async reset() {
    came = 0
    wanted = Number.POSITIVE_INFINITY
  },
  async until(count: number) {
    await new Promise<void>((resolve) => {
      wanted = count
      reached = resolve
      if (came >= wanted) resolve()
    })
  },
})
