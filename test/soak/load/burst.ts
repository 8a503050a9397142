import { connect, type Socket } from 'node:net'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import type { Asked } from '../books/answers.ts'
import { type Heard, judge, type Response } from '../books/contract.ts'
import type { Clients } from './send-attempt.ts'

/** Requests on one connection: no more than the service works on at a time, so that all of them are in its hands. */
const EACH = 8
/** Connections that are made at a time: no more than wait at the service's door until it opens. */
const MADE_AT_ONCE = 250

/**
 * Sends all commands at once, many on each connection without waiting for answers, and notes each answer as it comes.
 * Resolves when all are answered or cut.
 */
export async function flood(
  clients: Clients,
  commands: readonly Asked[],
  instance: Pick<Instance, 'origin'>,
): Promise<void> {
  const { hostname, port } = new URL(instance.origin)
  const sockets: Socket[] = []
  for (let i = 0; i * EACH < commands.length; i += 1) {
    const socket = connect(Number(port), hostname)
    // The `close` that follows is enough.
    socket.on('error', () => {})
    sockets.push(socket)
    if (sockets.length % MADE_AT_ONCE === 0) await made(socket)
  }
  await Promise.all(
    sockets.map((socket, i) => pour(clients, commands.slice(i * EACH, (i + 1) * EACH), socket, hostname)),
  )
}

/** Resolves when a connection is there, or is not to be had. */
const made = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('connect', resolve)
    socket.once('close', () => resolve())
  })

async function pour(clients: Clients, commands: readonly Asked[], socket: Socket, hostname: string): Promise<void> {
  const { answers, people } = clients
  const started = performance.now()
  const waiting = [...commands]
  const note = (heard: Heard): void => {
    const asked = waiting.shift()
    if (asked !== undefined) answers.note(asked, heard, performance.now() - started)
    if (waiting.length === 0) socket.end()
  }
  let rest = Buffer.alloc(0)
  socket.on('data', (piece) => {
    rest = Buffer.concat([rest, piece])
    for (let one = firstOf(rest); one !== null; one = firstOf(rest)) {
      rest = rest.subarray(one.end)
      const kind = waiting[0]?.wish.kind
      if (kind !== undefined) note(judge(kind, one.response))
    }
  })
  for (const asked of commands) {
    answers.sent()
    socket.write(requestText(asked, people.tokenOf(asked.wish.actor), hostname))
  }
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  while (waiting.length > 0) note({ is: 'cut', gaveUp: false })
}

const requestText = ({ key, wish }: Asked, token: string, host: string): string =>
  [
    `${wish.method} ${wish.path} HTTP/1.1`,
    `host: ${host}`,
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    `idempotency-key: ${key}`,
    `content-length: ${Buffer.byteLength(wish.body ?? '')}`,
    '',
    wish.body ?? '',
  ].join('\r\n')

/** The first response of what came so far, and where it ends; null when it is not whole. */
function firstOf(bytes: Buffer): { readonly response: Response; readonly end: number } | null {
  const split = bytes.indexOf('\r\n\r\n')
  if (split < 0) return null
  const [first = '', ...lines] = bytes.toString('latin1', 0, split).split('\r\n')
  const headers = new Map(lines.map((line) => [line.split(':', 1)[0]?.toLowerCase(), line.replace(/^[^:]*:\s*/, '')]))
  const body = split + 4
  const end = body + Number(headers.get('content-length'))
  if (Number.isNaN(end)) throw new Error('an answer does not tell its length')
  if (bytes.length < end) return null
  const status = Number(first.split(' ')[1])
  const header = (name: string): string | null => headers.get(name) ?? null
  return { response: { status, header, text: bytes.toString('utf8', body, end) }, end }
}
