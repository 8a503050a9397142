import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { DEADLINE_MS } from '../until.ts'
import { type HttpResponse, ResponseReader } from './response.ts'

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

/** The responses in what was received, with parsed bodies. */
export const parseResponses = (received: string): (HttpResponse & { readonly body: unknown })[] =>
  new ResponseReader()
    .read(Buffer.from(received))
    .map((response) => ({ ...response, body: response.text === '' ? null : JSON.parse(response.text) }))
