import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { DEADLINE_MS } from '../until.ts'

/** Has an app listen; answers its port. */
export async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the app has no port')
  return address.port
}

/** Connects; whatever ends the connection is no error of the test. */
export function openSocket(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

/** Sends bytes as they are; answers all that is heard until the other side hangs up, or for `ms` at most: enough for those who wait for it to end. */
export async function exchange(port: number, bytes: string | Buffer, ms = DEADLINE_MS): Promise<string> {
  const socket = openSocket(port)
  let heard = ''
  socket.on('data', (chunk) => {
    heard += chunk.toString()
  })
  socket.write(bytes)
  const patience = setTimeout(() => socket.destroy(), ms)
  await new Promise((resolve) => socket.once('close', resolve))
  clearTimeout(patience)
  return heard
}

/** Status, head and parsed body of each answer in what was heard. */
export function parseResponses(
  heard: string,
): { readonly status: number; readonly head: string; readonly body: unknown }[] {
  const answers = []
  let rest = heard
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    const head = rest.slice(0, end)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
    const text = rest.slice(end + 4, end + 4 + length)
    answers.push({ status: Number(head.slice(9, 12)), head, body: text === '' ? null : JSON.parse(text) })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}
