import * as fc from 'fast-check'
import type { Route } from '../../harness/http/api-routes.ts'
import type { HttpConnection } from '../../harness/http/http-connection.ts'
import { bearer, type HttpRequest, jsonRequest } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import type { AttackRun } from '../attack-run.ts'
import { ADDRESSEE, attackers, operatorToken, userToken } from '../callers.ts'
import { SECRET_CANARY } from '../hostile-values.ts'
import { staffReaders } from '../reads.ts'
import { type GeneratedRequest, requestsTo } from '../requests.ts'
import { credits } from '../target.ts'

/** Requests generated at a time for one route. */
const CHUNK = 20
/** What is spent is put back after so many requests. */
const REFILL_EVERY = 1_000
/** Only a few may read the ledger at a time, and each such request reads much of it: these routes get fewer requests. */
const FEWER = 20
/** Neither sends requests nor is named in them. */
const OUTSIDER = 3

const readsLedger = ({ name }: Route): boolean => name.includes(' /admin/v1/ledger/')

interface Turn {
  readonly routes: readonly Route[]
  readonly requests: number
  /** Another one makes other requests with the same seed. */
  readonly turn: number
}

/**
 * Routes with requests that are generated from their schemas: as they are meant, and wrong in one of their parts. A write
 * that is accepted is sent again, and read wherever it is shown.
 */
export async function generated(attackRun: AttackRun, { routes, requests, turn }: Turn): Promise<void> {
  const each = Math.ceil(requests / routes.length)
  let accepted = 0
  let count = 0
  await attackRun.each(inChunks(routes, each), async ({ route, chunk, size }, connection) => {
    const seed = attackRun.seed + turn * 1_000_003 + chunk * 10_007 + attackRun.routes.indexOf(route) * 101
    for (const [i, one] of fc.sample(requestsTo(route), { numRuns: size, seed }).entries()) {
      const key: HttpRequest['headers'][number] = ['Idempotency-Key', `${seed}-${i}`]
      const isKeyed = one.request.headers.some(([name]) => name === 'Idempotency-Key')
      const request = {
        ...one.request,
        path: attackRun.idPool.fill(route, one.request.path),
        headers: [...authorization(route, one), ...one.request.headers, ...(isKeyed ? [] : [key])],
      }
      const why = `${route.name} with seed ${seed}`
      const response = await attackRun.send(connection, request, why)
      count += 1
      // Refused where a balance is as large as it may be.
      for (const [method, path, body] of count % REFILL_EVERY === 0 ? credits(attackers, 10_000) : [])
        await attackRun.send(connection, jsonRequest(method, `/admin/v1${path}`, operatorToken(), body), 'refill')
      if (response === undefined) continue
      const { status, text } = response
      attackRun.idPool.keep(route, response)
      const fault = surprise(route, one, response)
      attackRun.expect(fault === null, why, request, `was answered ${status}, ${fault}: ${text.slice(0, 300)}`)
      if (status >= 300 || route.kind === 'open' || ['GET', 'HEAD', 'OPTIONS'].includes(request.method)) continue
      accepted += 1
      if (!isKeyed) await readBack(attackRun, connection, route, request, one.caller, response)
    }
  })
  attackRun.context.progress(`${accepted} writes were accepted and read back`)
}

function* inChunks(routes: readonly Route[], each: number) {
  for (let chunk = 0; chunk * CHUNK < each; chunk += 1) {
    for (const route of routes) {
      const size = Math.min(CHUNK, each - chunk * CHUNK)
      yield { route, chunk, size: readsLedger(route) ? Math.ceil(size / FEWER) : size }
    }
  }
}

const authorization = ({ kind }: Route, { caller }: GeneratedRequest): HttpRequest['headers'] =>
  kind === 'open' ? [] : [bearer(kind === 'admin' ? operatorToken() : userToken(caller))]

/** What an answer to somebody who may ask cannot be; null when it is none of that. */
function surprise(route: Route, { isValid }: GeneratedRequest, { status, text }: HttpResponse): string | null {
  const { kind } = route
  if (kind !== 'open' && (status === 401 || (status === 403 && kind === 'admin'))) return 'though the token is good'
  if (status === 429 && !readsLedger(route)) return 'though there is no limit'
  if (isValid && [400, 413, 415, 431].includes(status)) return 'though all is as the document says'
  if (isValid && status === 422 && text.includes('"validation_failed"') && !text.includes('"errors"'))
    return 'without saying why'
  return null
}

async function readBack(
  attackRun: AttackRun,
  connection: HttpConnection,
  route: Route,
  request: HttpRequest,
  caller: number,
  first: HttpResponse,
): Promise<void> {
  const why = `${route.name}, again`
  const again = await attackRun.send(connection, request, why)
  const isSame = first.status === again?.status && first.text === again.text
  const both = `was answered ${first.text.slice(0, 300)} and then ${again?.text.slice(0, 300)}`
  attackRun.expect(isSame, why, request, both)
  for (const { path, token, maySeeSecrets } of readersOf(route, request.path, attackRun.routes, caller)) {
    await attackRun.check(connection, {
      why: `${path} after ${route.name}`,
      request: jsonRequest('GET', path, token),
      faultIn({ status, text }) {
        if (status >= 400 && status !== 403 && status !== 404) return 'and not as before'
        return maySeeSecrets || !text.includes(SECRET_CANARY) ? null : 'with confidential text'
      },
    })
  }
}

/** Who can see what a write of this user left: the user, those to whom it went, staff, and somebody it does not concern. */
function readersOf(route: Route, path: string, routes: readonly Route[], caller: number) {
  const maySee = (id: number): boolean => id === caller || id === ADDRESSEE
  const user = (id: number, path: string) => ({ path, token: userToken(id), maySeeSecrets: maySee(id) })
  const staff = (path: string) => staffReaders().map((reader) => ({ ...reader, path }))
  const withdrawals = '/api/v1/agency/target-withdraw-requests?limit=5'
  if (/withdraw/.test(route.path)) {
    const others = [user(ADDRESSEE, `${withdrawals}&received=1`), user(OUTSIDER, `${withdrawals}&received=1`)]
    return [user(caller, withdrawals), ...others, ...staff('/admin/v1/withdrawals?limit=5')]
  }
  if (/transaction-requests/.test(route.path))
    return [user(caller, '/api/v1/agency/target-transaction-requests?limit=5')]
  if (route.kind !== 'admin') {
    const room = [user(caller, '/v1/rooms/R1'), user(OUTSIDER, '/v1/rooms/R1/games/roulette')]
    const own = [user(caller, '/v1/wallet'), user(caller, '/v1/fairness/lucky/draws?limit=5')]
    return route.path.includes('rooms') ? [...own, ...room] : own
  }
  const isRead = (path: string): boolean => routes.some((one) => one.method === 'GET' && one.path === path)
  const collection = route.path.replace(/\/\{\w+\}.*$/, '')
  const shown = [...(isRead(route.path) ? [path] : []), ...(isRead(collection) ? [`${collection}?limit=5`] : [])]
  const id = Number(/^\/admin\/v1\/users\/(\d+)/.exec(path)?.[1] ?? 0)
  const theirs = Number.isSafeInteger(id) && id > 0 ? [user(id, '/v1/wallet'), user(id, '/v1/privilege-wallet')] : []
  return [...shown.flatMap(staff), ...theirs]
}
