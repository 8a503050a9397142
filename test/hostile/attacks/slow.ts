import { connect } from 'node:net'
import { IDLE_TIMEOUT_MS } from '../../../src/http/server-options.ts'
import { onceClosed } from '../../harness/http/http-connection.ts'
import { ResponseReader } from '../../harness/http/response.ts'
import type { AttackRun } from '../attack-run.ts'
import { userToken } from '../callers.ts'

/** Connections of each kind. */
const EACH = 50
/** Beyond what the service allows: it looks once a second, and has other things to do. */
const SLACK_MS = 5_000
const TRICKLE_MS = 500

/** How a client is slow. */
interface Kind {
  readonly name: string
  /** Within this time it must be cut off. */
  readonly ms: number
  /** Sent at once, and then bit by bit. */
  readonly first: string
  readonly more?: string
  /** Whether it never reads its answers. */
  readonly isDeaf?: boolean
}

/** `isThorough`: also those that are given half a minute. */
function kinds(isThorough: boolean): readonly Kind[] {
  const auth = `Host: a\r\nAuthorization: Bearer ${userToken(1)}\r\n`
  const head = `POST /v1/instant-send HTTP/1.1\r\n${auth}Content-Type: application/json\r\n`
  const foreign = 'POST /v1/nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n'
  // More than the system takes in for somebody who does not read.
  const much = `GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\n${auth}\r\n`
  const all: readonly Kind[] = [
    { name: 'say nothing', ms: 10_000, first: '' },
    { name: 'send headers bit by bit', ms: 10_000, first: 'GET /v1/wallet HTTP/1.1\r\n', more: 'X: y\r\n' },
    { name: 'send a body bit by bit', ms: 30_000, first: `${head}Content-Length: 60000\r\n\r\n`, more: ' ' },
    {
      name: 'send chunks bit by bit',
      ms: 30_000,
      first: `${head}Transfer-Encoding: chunked\r\n\r\n`,
      more: '1\r\n \r\n',
    },
    { name: 'announce a body', ms: 30_000, first: `${head}Content-Length: 60000\r\n\r\n` },
    { name: 'send half a body unasked', ms: 30_000, first: foreign, more: ' ' },
    // The service hangs up after twice the time that a connection may stand still.
    { name: 'never read', ms: 2 * IDLE_TIMEOUT_MS + SLACK_MS, first: much.repeat(1_000), isDeaf: true },
  ]
  return all.filter(({ ms }) => isThorough || ms <= 10_000)
}

/** Slow clients are cut off in time, with an answer where one is due, and all others are served meanwhile. */
export async function slow(attackRun: AttackRun, isThorough: boolean): Promise<void> {
  const all = kinds(isThorough).flatMap((kind) => Array.from({ length: EACH }, () => hold(attackRun, kind)))
  const longest = Math.max(...(await Promise.all(all)))
  attackRun.context.report(`${all.length} slow connections, cut after ${(longest / 1000).toFixed(0)} s at most`)
}

/** Answers after how many milliseconds the service hung up. */
async function hold(attackRun: AttackRun, { name, ms, first, more = '', isDeaf = false }: Kind): Promise<number> {
  const why = `slow clients that ${name}`
  const started = performance.now()
  const socket = connect(attackRun.port, '127.0.0.1')
  socket.on('error', () => {})
  const reader = new ResponseReader()
  if (isDeaf) socket.pause()
  else
    socket.on('data', (chunk) => {
      for (const response of reader.read(chunk)) attackRun.note(response, why, Buffer.from(first))
    })
  socket.write(first)
  const trickle = setInterval(() => {
    if (more !== '' && socket.writable) socket.write(more)
  }, TRICKLE_MS)
  // A client that does not read does not hear either that the service hung up.
  const listening = setTimeout(() => socket.resume(), ms)
  const deadline = setTimeout(() => {
    attackRun.complain(why, Buffer.from(first), `are still there after ${ms + SLACK_MS} ms`)
    socket.destroy()
  }, attackRun.context.limit(ms) + SLACK_MS)
  await onceClosed(socket)
  clearTimeout(listening)
  clearTimeout(deadline)
  clearInterval(trickle)
  return performance.now() - started
}
