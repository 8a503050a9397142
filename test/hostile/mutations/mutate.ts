import { isRead, pathOf, type Route } from '../../harness/http/api-routes.ts'
import type { HttpConnection } from '../../harness/http/http-connection.ts'
import { bearer, type HttpRequest, jsonRequest, jsonType } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import type { AttackRun } from '../attack-run/attack-run.ts'
import { SECRET_CANARY } from '../attack-run/canaries.ts'
import { idPlaceholder } from '../attack-run/id-pool.ts'
import type { PeriodicReads } from '../attack-run/periodic-reads.ts'
import { attackers, tokenOf } from '../attack-run/roles.ts'
import { type Mutation, mutatedBody, mutationsOf } from './mutations.ts'
import { readersOf } from './readers.ts'

/** What is spent is put back after so many of them. */
const REFILL_EVERY = 400
/** So often a field that is meant for another branch of a union takes its turn: there are few, and they are easily missed. */
const OTHER_BRANCH_EVERY = 4
const STRIDE = 7_919

/**
 * Every field of every route that writes, bent to every hostile value; what is accepted is sent again and read wherever it
 * is shown. As many rounds of them as fit into so many requests.
 */
export async function mutateFields(attackRun: AttackRun, requests: number, periodic: PeriodicReads): Promise<void> {
  const routes = attackRun.routes.filter(
    (route) => !isRead(route) && route.kind !== 'open' && !/revoke/.test(route.name),
  )
  const all = routes.flatMap((route) => mutationsOf(route.body ?? {}).map((mutation) => ({ route, mutation })))
  const ofOtherBranches = all.filter(({ route, mutation }) => isOfOtherBranch(route, mutation))
  const until = attackRun.asked + requests
  const turns = function* () {
    // What is not answered is not counted: a service that is gone must not be asked for ever.
    for (let n = 0; n < requests && attackRun.asked < until; n += 1) {
      const list = n % OTHER_BRANCH_EVERY === 0 ? ofOtherBranches : all
      // Neighbours in the list are of one route: a prime stride takes them all, mixed.
      const one = list[(attackRun.seed + n * STRIDE) % list.length]
      if (one !== undefined) yield { ...one, n }
    }
  }
  let accepted = 0
  await attackRun.each(turns(), async ({ route, mutation, n }, connection) => {
    if (n % REFILL_EVERY === 0) await refill(attackRun, connection)
    if (await mutateOne(attackRun, connection, route, mutation, n)) accepted += 1
    await periodic.afterOne(connection)
  })
  attackRun.context.report(
    `${all.length} ways to bend a field of ${routes.length} routes; ${accepted} were accepted and read back`,
  )
}

const isOfOtherBranch = ({ body }: Route, { isUnknown, path: [name = ''] }: Mutation): boolean =>
  isUnknown && body?.anyOf?.some(({ properties = {} }) => name in properties) === true

async function refill(attackRun: AttackRun, connection: HttpConnection): Promise<void> {
  for (const id of attackers) {
    for (const currency of ['coins', 'diamonds', 'dollars', 'agent_dollars']) {
      const body = { currency, amount: 10_000, reason: 'to be spent' }
      await attackRun.send(
        connection,
        jsonRequest('POST', `/admin/v1/users/${id}/credits`, tokenOf('operator') ?? '', body),
        'refill',
      )
    }
  }
}

async function mutateOne(
  attackRun: AttackRun,
  connection: HttpConnection,
  route: Route,
  mutation: Mutation,
  n: number,
): Promise<boolean> {
  const caller = attackers[n % 2] ?? attackers[0]
  const path = attackRun.idPool.fill(route, pathOf(route, paramsFor(route, n), n % 3 === 0))
  const token = route.kind === 'admin' ? tokenOf('operator') : tokenOf('user', caller)
  const request: HttpRequest = {
    method: route.method,
    path,
    headers: [bearer(token ?? ''), jsonType, ['Idempotency-Key', `bend-${attackRun.seed}-${n}`]],
    body: mutatedBody(mutation, caller, n),
  }
  // A fault shows the request itself: all values of a field that meet the same fault are reported once.
  const why = `${route.name} with a bent ${mutation.path.join('.')}`
  const first = await attackRun.send(connection, request, why)
  if (first === undefined || first.status >= 300) return false
  attackRun.idPool.keep(route, first)
  const again = await attackRun.send(connection, request, `${why}, again`)
  attackRun.expect(
    same(first, again),
    `${why}, again`,
    request,
    `was answered ${first.text.slice(0, 300)} and then ${again?.text.slice(0, 300)}`,
  )
  for (const { request: read, maySeeSecrets } of readersOf(route, path, attackRun.routes, caller)) {
    const shown = await attackRun.send(connection, read, `${read.path} after ${route.name}`)
    if (shown === undefined) continue
    attackRun.expect(
      shown.status < 400 || shown.status === 403 || shown.status === 404,
      `${read.path} after ${route.name}`,
      read,
      `was answered ${shown.status}`,
    )
    attackRun.expect(
      maySeeSecrets || !shown.text.includes(SECRET_CANARY),
      `${read.path} after ${route.name}`,
      read,
      'contains confidential text',
    )
  }
  return true
}

const same = (first: HttpResponse, again: HttpResponse | undefined): boolean =>
  first.status === again?.status && first.text === again.text

/** Ids of what is bent, apart from those that the other requests lean on. */
function paramsFor({ path, params }: Route, n: number): Readonly<Record<string, string>> {
  const of = (name: string): string => {
    if (name === 'room_uid' || name === 'uid') return 'R1'
    if (name === 'client_type') return ['android', 'ios', 'flutter'][n % 3] ?? 'ios'
    if (path.startsWith('/admin/v1/users')) return String(6 + (n % 3))
    if (/^\/admin\/v1\/(rooms|countries|decorations|privilege-packages)/.test(path)) return String(50 + (n % 10))
    return name === 'user_id' ? '6' : idPlaceholder(n)
  }
  return Object.fromEntries(Object.keys(params).map((name) => [name, of(name)]))
}
