import * as fc from 'fast-check'
import { isRead, type Route } from '../../harness/http/api-routes.ts'
import type { HttpConnection } from '../../harness/http/http-connection.ts'
import { bearer, type HttpRequest } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import type { AttackRun } from '../attack-run.ts'
import { attackers, tokenOf } from '../callers.ts'
import { requestsTo } from '../requests.ts'

/** Tries of each route. */
const EACH = 8

const isRepeat = (response: HttpResponse | undefined): boolean =>
  response?.headers.get('idempotency-replayed') === 'true'
const isDone = (response: HttpResponse | undefined): response is HttpResponse =>
  response !== undefined && response.status < 300

interface Try {
  readonly route: Route
  readonly key: string
  readonly request: HttpRequest
  readonly other: HttpRequest
  readonly elsewhere: Route
}

/** Used keys again: for the same, for another body, at another route, and by somebody else. */
export async function keys(attackRun: AttackRun): Promise<void> {
  const routes = attackRun.routes.filter((route) => !isRead(route) && route.kind !== 'open')
  const tries = routes.flatMap((route, i) => {
    const valid = requestsTo(route).filter(({ isValid }) => isValid)
    const requests = fc.sample(valid, { numRuns: EACH * 2, seed: attackRun.seed + i })
    return Array.from({ length: EACH }, (_, n): Try[] => {
      const [request, other, elsewhere] = [requests[n], requests[EACH + n], routes[(i + 1 + n) % routes.length]]
      if (request === undefined || other === undefined || elsewhere === undefined) return []
      const key = `${attackRun.seed}-${i}-${n}`
      return [{ route, key, request: request.request, other: other.request, elsewhere }]
    }).flat()
  })
  await attackRun.each(attackRun.some(tries), (one, connection) => reuse(attackRun, connection, one))
}

async function reuse(attackRun: AttackRun, connection: HttpConnection, { route, ...one }: Try): Promise<void> {
  const { key, elsewhere } = one
  const filled = (request: HttpRequest) => ({ ...request, path: attackRun.idPool.fill(route, request.path) })
  const [request, other] = [filled(one.request), filled(one.other)]
  const as = (request: HttpRequest, token: string | null): HttpRequest => ({
    ...request,
    headers: [bearer(token ?? ''), ['Content-Type', 'application/json'], ['Idempotency-Key', key]],
  })
  const role = route.kind === 'admin' ? 'operator' : 'user'
  const mine = as(request, tokenOf(role, attackers[0]))
  const why = `key ${key} at ${route.name}`
  const first = await attackRun.send(connection, mine, why)
  if (first === undefined) return
  attackRun.idPool.keep(route, first)
  const again = await attackRun.send(connection, mine, `${why}, again`)
  const isStored = isRepeat(again)
  if (isStored || isDone(first)) {
    const isSame = again?.text === first.text && (!isStored || again.status === first.status)
    attackRun.expect(isSame, `${why}, again`, mine, `was answered ${first.text} and then ${again?.text}`)
  }
  // A request that is not stored must not have done anything.
  const id = first.headers.get('x-request-id')
  if (!isStored && isDone(first) && id !== undefined) attackRun.idle.add(id)

  if (String(other.body) !== String(request.body) || other.path !== request.path) {
    const changed = as(other, tokenOf(role, attackers[0]))
    const response = await attackRun.send(connection, changed, `${why}, for another request`)
    const isSame = isRepeat(response) && response?.text === first.text
    attackRun.expect(!isStored || !isDone(response) || isSame, `${why}, for another request`, changed, 'was done')
  }
  if (isStored && elsewhere !== route && elsewhere.kind === route.kind) {
    const there = { ...mine, method: elsewhere.method, path: elsewhere.path.replaceAll(/\{\w+\}/g, '1') }
    const response = await attackRun.send(connection, there, `${why}, at ${elsewhere.name}`)
    attackRun.expect(!isDone(response), `${why}, at ${elsewhere.name}`, there, 'was done')
  }
  const theirs = as(request, route.kind === 'admin' ? tokenOf('finance') : tokenOf('user', attackers[1]))
  const response = await attackRun.send(connection, theirs, `${why}, by somebody else`)
  attackRun.expect(!isRepeat(response), `${why}, by somebody else`, theirs, 'was answered with the reply to another')
}
