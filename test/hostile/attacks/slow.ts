import { connect, type Socket } from 'node:net'
import { IDLE_TIMEOUT_MS } from '../../../src/http/server-options.ts'
import { onceClosed } from '../../harness/http/http-connection.ts'
import { ResponseReader } from '../../harness/http/response.ts'
import type { AttackRun } from '../attack-run/attack-run.ts'
import { tokenOf } from '../attack-run/roles.ts'

/** Connections of each kind. */
const EACH = 50
/** Beyond what the service allows: it looks once a second, and has other things to do. */
const SLACK_MS = 5_000
const TRICKLE_MS = 500

interface Kind {
  readonly name: string
  /** Within this it must be cut. */
  readonly ms: number
  /** What is sent at once, and then bit by bit. */
  readonly first: string
  readonly more: string
  /** Whether answers are read. */
  readonly reads: boolean
}

/** Who takes a place and is slow: how long each kind may go on. `whole`: also those who are given half a minute. */
const kinds = (whole: boolean): readonly Kind[] => {
  const auth = `Host: a\r\nAuthorization: Bearer ${tokenOf('user')}\r\n`
  const head = `POST /v1/instant-send HTTP/1.1\r\n${auth}Content-Type: application/json\r\n`
  // More than the system takes in for somebody who does not read.
  const much = `GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\n${auth}\r\n`
  const short: Kind[] = [
    { name: 'say nothing', ms: 10_000, first: '', more: '', reads: true },
    {
      name: 'send headers bit by bit',
      ms: 10_000,
      first: 'GET /v1/wallet HTTP/1.1\r\n',
      more: 'X: y\r\n',
      reads: true,
    },
  ]
  const long: Kind[] = [
    {
      name: 'send a body bit by bit',
      ms: 30_000,
      first: `${head}Content-Length: 60000\r\n\r\n`,
      more: ' ',
      reads: true,
    },
    {
      name: 'send chunks bit by bit',
      ms: 30_000,
      first: `${head}Transfer-Encoding: chunked\r\n\r\n`,
      more: '1\r\n \r\n',
      reads: true,
    },
    { name: 'announce a body', ms: 30_000, first: `${head}Content-Length: 60000\r\n\r\n`, more: '', reads: true },
    {
      name: 'send half a body unasked',
      ms: 30_000,
      first: 'POST /v1/nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n',
      more: ' ',
      reads: true,
    },
    // The service hangs up after twice the time that a connection may stand still.
    { name: 'never read', ms: 2 * IDLE_TIMEOUT_MS + SLACK_MS, first: much.repeat(1_000), more: '', reads: false },
  ]
  return whole ? [...short, ...long] : short
}

/** Whoever is slow is cut off in time, with an answer where one is due, and all others are served meanwhile. */
export async function slow(attackRun: AttackRun, whole: boolean): Promise<void> {
  const all = kinds(whole).flatMap((kind) => Array.from({ length: EACH }, () => hold(attackRun, kind)))
  const longest = Math.max(...(await Promise.all(all)))
  attackRun.context.report(`${all.length} slow connections, cut after ${(longest / 1000).toFixed(0)} s at most`)
}

/** Answers after how many milliseconds the service hung up. */
async function hold(attackRun: AttackRun, { name, ms, first, more, reads }: Kind): Promise<number> {
  const started = performance.now()
  const socket = connect(attackRun.port, '127.0.0.1')
  socket.on('error', () => {})
  if (reads) judgeAll(attackRun, socket, `slow: ${name}`)
  else socket.pause()
  socket.write(first)
  const trickle = setInterval(() => {
    if (more !== '' && socket.writable) socket.write(more)
  }, TRICKLE_MS)
  // Somebody who does not read does not hear either that the service hung up.
  const look = setTimeout(() => socket.resume(), ms)
  const patience = setTimeout(() => {
    attackRun.complain(`slow: ${name}`, Buffer.from(first), `was still there after ${ms + SLACK_MS} ms`)
    socket.destroy()
  }, ms + SLACK_MS)
  await onceClosed(socket)
  clearTimeout(look)
  clearTimeout(patience)
  clearInterval(trickle)
  return performance.now() - started
}

function judgeAll(attackRun: AttackRun, socket: Socket, why: string): void {
  const reader = new ResponseReader()
  socket.on('data', (chunk) => {
    for (const response of reader.read(chunk)) attackRun.note(response, why, Buffer.from(why))
  })
}
