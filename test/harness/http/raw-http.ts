import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { DEADLINE_MS } from '../until.ts'
import { contentLengthOf, readHead } from './response.ts'

/** Makes an app listen; answers its port. */
export const listen = async (app: FastifyInstance): Promise<number> =>
  Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)

/** Connects. Errors of the connection do not fail the test. */
export function openSocket(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

/** Sends raw bytes; answers everything received until the server closes the connection, or within `ms`. */
export async function exchange(port: number, bytes: string | Buffer, ms = DEADLINE_MS): Promise<string> {
  const socket = openSocket(port)
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
  })
  socket.write(bytes)
  const timeout = setTimeout(() => socket.destroy(), ms)
  await new Promise((resolve) => socket.once('close', resolve))
  clearTimeout(timeout)
  return received
}

/** Status, head and parsed body of each response in what was received. */
export function parseResponses(
  received: string,
): { readonly status: number; readonly head: string; readonly body: unknown }[] {
  const responses = []
  let rest = Buffer.from(received)
  for (let head = readHead(rest); head !== null; head = readHead(rest)) {
    const end = head.bodyStart + (contentLengthOf(head) ?? 0)
    const text = rest.toString('utf8', head.bodyStart, end)
    responses.push({ status: head.status, head: head.text, body: text === '' ? null : JSON.parse(text) })
    rest = rest.subarray(end)
  }
  return responses
}
