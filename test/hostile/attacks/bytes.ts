import { once } from 'node:events'
import { connect } from 'node:net'
import * as fc from 'fast-check'
import { onceClosed } from '../../harness/http/http-connection.ts'
import { ResponseReader } from '../../harness/http/response.ts'
import type { AttackRun } from '../attack-run.ts'
import { attackers, userToken } from '../callers.ts'

/** A connection on which nothing comes any more is left after this: the request may have been done by then. */
const PATIENCE_MS = 15_000
/** Requests with bytes that were changed at random. They change nothing, whatever they mean, so nobody waits for them. */
const DAMAGED = 400
const IMPATIENCE_MS = 100

/** Requests on the edge of HTTP and beyond it, and connections that end in the middle of one. */
export async function bytes(attackRun: AttackRun): Promise<void> {
  const auth = `Authorization: Bearer ${userToken(1)}\r\n`
  const [user, receiver] = attackers
  const gift = `{"u_id":${user},"decoration_id":1,"user_id":[${receiver}],"quantity":1,"room_id":1}`
  const post = (framing: string, body: string): string =>
    `POST /v1/instant-send HTTP/1.1\r\nHost: a\r\n${auth}Content-Type: application/json\r\n${framing}\r\n\r\n${body}`
  const get = `GET /v1/wallet HTTP/1.1\r\nHost: a\r\n${auth}\r\n`
  const smuggled = `GET /v1/smuggled HTTP/1.1\r\nHost: a\r\n${auth}\r\n`
  const chunked = `${gift.length.toString(16)}\r\n${gift}\r\n0\r\n\r\n`
  const forms: Readonly<Record<string, string>> = {
    'length and chunks': post('Content-Length: 4\r\nTransfer-Encoding: chunked', `${chunked}${smuggled}`),
    'chunks and length': post('Transfer-Encoding: chunked\r\nContent-Length: 4', `${chunked}${smuggled}`),
    'a length in hex': post('Content-Length: 0x5', gift),
    'a length with spaces': post('Content-Length: 1 0', gift),
    'chunked, in other letters': post('Transfer-Encoding: cHuNkEd', chunked),
    'chunked, hidden': post('Transfer-Encoding: \u000bchunked', chunked),
    'chunked and identity': post('Transfer-Encoding: chunked, identity', chunked),
    'identity and chunked': post('Transfer-Encoding: identity, chunked', chunked),
    'chunked twice': post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', chunked),
    'chunked, with a tab': post('Transfer-Encoding:\tchunked', chunked),
    'a negative chunk': post('Transfer-Encoding: chunked', `-1\r\n${gift}\r\n0\r\n\r\n`),
    'an endless chunk': post('Transfer-Encoding: chunked', `ffffffffffffffffff\r\n${gift}`),
    'a chunk with extensions': post('Transfer-Encoding: chunked', `1;${'x=y;'.repeat(8_000)}\r\n{\r\n0\r\n\r\n`),
    'a chunk with a bare line feed': post('Transfer-Encoding: chunked', `${gift.length.toString(16)}\n${gift}\n0\n\n`),
    trailers: post('Transfer-Encoding: chunked\r\nTrailer: Authorization', `0\r\nAuthorization: Bearer x\r\n\r\n`),
    'more than its length': post('Content-Length: 2', `{}${smuggled}${get}`),
    'a body of a GET': get.replace('\r\n\r\n', `\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`),
    'an empty line before it': `\r\n\r\n${get}`,
    'a header before the first line': `Host: a\r\n${get}`,
    'a header without a name': get.replace('Host', ''),
    'a header without a colon': get.replace('Host: a', 'Host a'),
    'a header with a return': get.replace('Host: a', 'Host: a\rb'),
    'a first line without a version': 'GET /v1/wallet\r\n\r\n',
    'a version that there is not': get.replace('HTTP/1.1', 'HTTP/3.7'),
    'a lone NUL': '\0',
    'nonsense after a request': `${get}${'\u00ff'.repeat(100)}`,
  }
  await Promise.all(
    Object.entries(forms).map(([name, form]) => exchange(attackRun, `bytes: ${name}`, Buffer.from(form), PATIENCE_MS)),
  )

  const draw = `{"chain":"c-1","k":1,"link":"${'ab'.repeat(32)}","client_seed":"x","orders":[{}]}`
  const good = Buffer.from(
    post(`Content-Length: ${draw.length}`, draw).replace('/v1/instant-send', '/v1/fairness/verify'),
  )
  const damage = fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
  const damages = fc.sample(damage, { numRuns: DAMAGED, seed: attackRun.seed })
  await attackRun.each(damages.entries(), async ([i, changes]) => {
    const damaged = Buffer.from(good)
    for (const [at, byte] of changes) damaged[at] = byte
    const why = `bytes: damaged with seed ${attackRun.seed}, ${i}`
    // A request that was not understood has an end here.
    await exchange(attackRun, why, Buffer.concat([damaged, Buffer.from('\r\n\r\n')]), IMPATIENCE_MS)
  })
  // Half a request, and gone.
  for (let length = 1; length < good.length; length += 7) {
    const socket = connect(attackRun.port, '127.0.0.1')
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(good.subarray(0, length))
    socket.resetAndDestroy()
  }
}

/** Sends bytes and judges the answers until the service hangs up or sends no more. */
async function exchange(attackRun: AttackRun, why: string, sent: Buffer, patienceMs: number): Promise<void> {
  const socket = connect(attackRun.port, '127.0.0.1')
  socket.on('error', () => {})
  const reader = new ResponseReader()
  socket.on('data', (chunk) => {
    try {
      for (const response of reader.read(chunk)) {
        attackRun.note(response, why, sent)
        if (response.text.includes('smuggled')) attackRun.complain(why, sent, 'was taken for another request')
      }
    } catch (error) {
      attackRun.complain(why, sent, String(error))
    }
  })
  socket.write(sent)
  socket.setTimeout(patienceMs, () => socket.destroy())
  await onceClosed(socket)
}
