import * as fc from 'fast-check'
import { isRead, type Route } from '../../harness/http/api-routes.ts'
import type { HttpConnection } from '../../harness/http/http-connection.ts'
import { bearer, type HttpRequest } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import type { AttackRun } from '../attack-run/attack-run.ts'
import { attackers, tokenOf } from '../attack-run/roles.ts'
import { requestsTo } from '../requests/request-generators.ts'

/** Tries of each door. */
const EACH = 8
/** How often one request is sent at once. */
const AT_ONCE = 4

const replayed = (response: HttpResponse | undefined): boolean =>
  response?.headers.get('idempotency-replayed') === 'true'
const succeeded = (response: HttpResponse | undefined): response is HttpResponse =>
  response !== undefined && response.status < 300

/** Keys that were used, once more: for the same, for another body, at another door, by somebody else, and all at once. */
export async function keys(attackRun: AttackRun): Promise<void> {
  const routes = attackRun.routes.filter((route) => !isRead(route) && route.kind !== 'open')
  const tries = routes.flatMap((route, i) => {
    const valid = requestsTo(route).filter((made) => made.valid)
    const made = fc.sample(valid, { numRuns: EACH * 2, seed: attackRun.seed + i })
    return Array.from({ length: EACH }, (_, n) => ({
      route,
      key: `${attackRun.seed}-${i}-${n}`,
      request: made[n]?.request,
      other: made[EACH + n]?.request,
      elsewhere: routes[(i + 1 + n) % routes.length],
    }))
  })
  await attackRun.each(attackRun.some(tries), async ({ route, key, request, other, elsewhere }, connection) => {
    if (request === undefined || other === undefined || elsewhere === undefined) return
    const filled = (request: HttpRequest): HttpRequest => ({
      ...request,
      path: attackRun.idPool.fill(route, request.path),
    })
    await reuse(attackRun, connection, { route, key, request: filled(request), other: filled(other), elsewhere })
  })
}

interface Try {
  readonly route: Route
  readonly key: string
  readonly request: HttpRequest
  readonly other: HttpRequest
  readonly elsewhere: Route
}

async function reuse(
  attackRun: AttackRun,
  connection: HttpConnection,
  { route, key, request, other, elsewhere }: Try,
): Promise<void> {
  const role = route.kind === 'admin' ? 'operator' : 'user'
  const as = (request: HttpRequest, token: string | null): HttpRequest => ({
    ...request,
    headers: [
      ...(token === null ? [] : [bearer(token)]),
      ['Content-Type', 'application/json'],
      ['Idempotency-Key', key],
    ],
  })
  const mine = as(request, tokenOf(role, attackers[0]))
  const why = `key ${key} at ${route.name}`
  const first = await attackRun.send(connection, mine, why)
  if (first === undefined) return
  attackRun.idPool.keep(route, first)
  const again = await attackRun.send(connection, mine, `${why}, again`)
  if (replayed(again)) {
    const same = again?.status === first.status && again.text === first.text
    attackRun.expect(same, `${why}, again`, mine, `was answered ${first.text} and then ${again?.text}`)
  } else if (succeeded(first)) {
    // Whatever is not remembered must not have done anything.
    const sameId = first.headers.get('x-request-id')
    if (sameId !== undefined) attackRun.idle.add(sameId)
    attackRun.expect(again?.text === first.text, `${why}, again`, mine, 'was neither remembered nor answered the same')
  }
  const remembered = replayed(again)

  const changed = as(other, tokenOf(role, attackers[0]))
  if (String(other.body) !== String(request.body) || other.path !== request.path) {
    const response = await attackRun.send(connection, changed, `${why}, for another request`)
    const isSame = replayed(response) && response?.text === first.text
    attackRun.expect(!remembered || !succeeded(response) || isSame, `${why}, for another request`, changed, 'was done')
  }
  if (remembered && elsewhere !== route && elsewhere.kind === route.kind) {
    const path = elsewhere.path.replaceAll(/\{\w+\}/g, '1')
    const there = { ...mine, method: elsewhere.method, path }
    const response = await attackRun.send(connection, there, `${why}, at ${elsewhere.name}`)
    attackRun.expect(!succeeded(response), `${why}, at ${elsewhere.name}`, there, 'was done')
  }
  const others = as(request, route.kind === 'admin' ? tokenOf('finance') : tokenOf('user', attackers[1]))
  const theirs = await attackRun.send(connection, others, `${why}, by somebody else`)
  attackRun.expect(!replayed(theirs), `${why}, by somebody else`, others, 'was answered with what is not theirs')
  await sameAtOnce(attackRun, as(other, tokenOf(role, attackers[2])), `${key}-at-once`, why)
}

/** However many of one request arrive together, one is done and the others hear of it. */
async function sameAtOnce(attackRun: AttackRun, request: HttpRequest, key: string, why: string): Promise<void> {
  const keyed: HttpRequest = {
    ...request,
    headers: request.headers.map(([name, value]) => (name === 'Idempotency-Key' ? [name, key] : [name, value])),
  }
  const answers: HttpResponse[] = []
  await attackRun.each(Array.from({ length: AT_ONCE }), async (_, connection) => {
    const response = await attackRun.send(connection, keyed, `${why}, at once`)
    if (response !== undefined) answers.push(response)
  })
  const fresh = answers.filter((response) => !replayed(response))
  const texts = new Set(answers.map(({ text }) => text))
  const once = answers.every(({ status }) => status < 300) ? texts.size === 1 : true
  const doneOnce = fresh.filter(succeeded).length <= 1 || fresh.length === answers.length
  attackRun.expect(once && doneOnce, `${why}, at once`, keyed, `was answered ${[...texts].join(' and ')}`)
}
