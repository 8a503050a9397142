import { connect, type Socket } from 'node:net'
import { ResponseReader } from '../../harness/http/response.ts'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import type { Attempt } from '../books/answers.ts'
import { judge, type Result } from '../books/contract.ts'
import type { ClientContext } from './send-attempt.ts'

/** Requests on one connection: no more than the service works on at a time, so that all of them are in its hands. */
const PER_CONNECTION = 8
/** Connections that are made at a time: no more than wait at the service's door until it opens. */
const MAX_CONNECTING = 250

/**
 * Sends all commands at once, many on each connection without waiting for answers, and notes each answer as it comes.
 * Resolves when all are answered or cut.
 */
export async function sendBurst(
  clients: ClientContext,
  commands: readonly Attempt[],
  instance: Pick<Instance, 'origin'>,
): Promise<void> {
  const { hostname, port } = new URL(instance.origin)
  const sockets: Socket[] = []
  for (let i = 0; i * PER_CONNECTION < commands.length; i += 1) {
    const socket = connect(Number(port), hostname)
    // The `close` that follows is enough.
    socket.on('error', () => {})
    sockets.push(socket)
    if (sockets.length % MAX_CONNECTING === 0) await connected(socket)
  }
  await Promise.all(
    sockets.map((socket, i) =>
      sendPipelined(clients, commands.slice(i * PER_CONNECTION, (i + 1) * PER_CONNECTION), socket, hostname),
    ),
  )
}

/** Resolves when a connection is there, or is not to be had. */
const connected = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('connect', resolve)
    socket.once('close', () => resolve())
  })

async function sendPipelined(
  clients: ClientContext,
  commands: readonly Attempt[],
  socket: Socket,
  hostname: string,
): Promise<void> {
  const { answers, people } = clients
  const started = performance.now()
  const waiting = [...commands]
  const note = (result: Result): void => {
    const attempt = waiting.shift()
    if (attempt !== undefined) answers.note(attempt, result, performance.now() - started)
    if (waiting.length === 0) socket.end()
  }
  const reader = new ResponseReader()
  socket.on('data', (chunk) => {
    for (const { status, headers, text } of reader.read(chunk)) {
      const kind = waiting[0]?.operation.kind
      if (kind !== undefined) note(judge(kind, { status, text, header: (name) => headers.get(name) ?? null }))
    }
  })
  for (const attempt of commands) {
    answers.sent()
    socket.write(requestText(attempt, people.tokenOf(attempt.operation.actor), hostname))
  }
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  while (waiting.length > 0) note({ outcome: 'cut', timedOut: false })
}

const requestText = ({ key, operation }: Attempt, token: string, host: string): string =>
  [
    `${operation.method} ${operation.path} HTTP/1.1`,
    `host: ${host}`,
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    `idempotency-key: ${key}`,
    `content-length: ${Buffer.byteLength(operation.body ?? '')}`,
    '',
    operation.body ?? '',
  ].join('\r\n')
