import { connect, type Socket } from 'node:net'
import { ResponseReader } from '../../harness/http/response.ts'
import type { Instance } from '../../harness/scenario/service-instance.ts'
import type { Attempt } from '../books/answers.ts'
import { judge, type Result } from '../books/contract.ts'
import type { ClientContext } from './send-attempt.ts'

/** As many as the service handles at a time on one connection, so that it has all of them at once. */
const REQUESTS_PER_CONNECTION = 8
/** Connections opened at a time: no more than fit into the backlog of the service's socket. */
const MAX_CONNECTING = 250

/**
 * Sends all commands at once, several on each connection without waiting for answers, and notes their results. Resolves
 * when all are answered or their connections closed.
 */
export async function sendBurst(
  clients: ClientContext,
  commands: readonly Attempt[],
  instance: Pick<Instance, 'origin'>,
): Promise<void> {
  const { hostname, port } = new URL(instance.origin)
  const sockets: Socket[] = []
  for (let i = 0; i * REQUESTS_PER_CONNECTION < commands.length; i += 1) {
    const socket = connect(Number(port), hostname)
    // A close event follows each error.
    socket.on('error', () => {})
    sockets.push(socket)
    if (sockets.length % MAX_CONNECTING === 0) await connected(socket)
  }
  await Promise.all(
    sockets.map((socket, i) =>
      sendPipelined(
        clients,
        commands.slice(i * REQUESTS_PER_CONNECTION, (i + 1) * REQUESTS_PER_CONNECTION),
        socket,
        hostname,
      ),
    ),
  )
}

/** Resolves when a connection is open, or has failed. */
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
  const pending = [...commands]
  const note = (result: Result): void => {
    const attempt = pending.shift()
    if (attempt !== undefined) answers.note(attempt, result, performance.now() - started)
    if (pending.length === 0) socket.end()
  }
  const reader = new ResponseReader()
  socket.on('data', (chunk) => {
    for (const { status, headers, text } of reader.read(chunk)) {
      const kind = pending[0]?.operation.kind
      if (kind !== undefined) note(judge(kind, { status, text, header: (name) => headers.get(name) ?? null }))
    }
  })
  for (const attempt of commands) {
    answers.sent()
    socket.write(requestText(attempt, people.tokenOf(attempt.operation.actor), hostname))
  }
  if (!socket.closed) await new Promise<void>((resolve) => socket.once('close', () => resolve()))
  while (pending.length > 0) note({ outcome: 'cut', timedOut: false })
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
