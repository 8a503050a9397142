import * as fc from 'fast-check'
import type { Route } from '../../harness/http/api-routes.ts'
import { bearer } from '../../harness/http/request.ts'
import type { HttpResponse } from '../../harness/http/response.ts'
import type { AttackRun } from '../attack-run/attack-run.ts'
import type { PeriodicReads } from '../attack-run/periodic-reads.ts'
import { attackers, tokenOf } from '../attack-run/roles.ts'
import { type GeneratedRequest, requestsTo } from '../requests/request-generators.ts'

/** Requests made up at a time. */
const CHUNK = 20

/**
 * Every door with requests that are made up from its schemas: as they are meant, and wrong in one of their parts. Users'
 * doors first, so that operators may leave the service in whatever state; then all together.
 */
export async function fuzz(attackRun: AttackRun, requests: number, periodic?: PeriodicReads): Promise<void> {
  const clients = attackRun.routes.filter(({ kind }) => kind !== 'admin')
  const all = [clients, attackRun.routes.filter(({ kind }) => kind === 'admin'), attackRun.routes]
  for (const [turn, routes] of all.entries()) {
    const each = Math.ceil(requests / all.length / routes.length)
    await attackRun.each(inChunks(routes, each), async ({ route, chunk, count }, connection) => {
      const seed = attackRun.seed + turn * 1_000_003 + chunk * 10_007 + attackRun.routes.indexOf(route) * 101
      for (const made of fc.sample(requestsTo(route), { numRuns: count, seed })) {
        const headers = [...authorization(route, attackRun.asked), ...made.request.headers]
        const request = { ...made.request, path: attackRun.idPool.fill(route, made.request.path), headers }
        const why = `fuzz of ${route.name} with seed ${seed}`
        const response = await attackRun.send(connection, request, why)
        if (response !== undefined) attackRun.idPool.keep(route, response)
        await periodic?.afterOne(connection)
        const fault = response === undefined ? null : surprise(route, made, response)
        attackRun.expect(
          fault === null,
          why,
          request,
          `was answered ${response?.status}, ${fault}: ${response?.text.slice(0, 300)}`,
        )
      }
    })
  }
}

/** Each answer of theirs takes a look at much of the ledger: few are made at a time, so they get few requests. */
const readsBooks = ({ name }: Route): boolean => name.includes(' /admin/v1/ledger/')
const FEWER = 20

function* inChunks(routes: readonly Route[], each: number) {
  for (let chunk = 0; chunk * CHUNK < each; chunk += 1) {
    for (const route of routes) {
      const count = Math.min(CHUNK, each - chunk * CHUNK)
      yield { route, chunk, count: readsBooks(route) ? Math.ceil(count / FEWER) : count }
    }
  }
}

function authorization({ kind }: Route, turn: number): GeneratedRequest['request']['headers'] {
  if (kind === 'open') return []
  const user = attackers[turn % attackers.length] ?? attackers[0]
  const token = kind === 'admin' ? tokenOf('operator') : tokenOf('user', user)
  return token === null ? [] : [bearer(token)]
}

/** What an answer to somebody who may ask cannot be; null when it is none of that. */
function surprise(route: Route, { valid }: GeneratedRequest, { status, text }: HttpResponse): string | null {
  const { kind } = route
  if (kind !== 'open' && (status === 401 || (status === 403 && kind === 'admin'))) return 'though the token is good'
  if (status === 429 && !readsBooks(route)) return 'though there is no limit'
  if (valid && [400, 413, 415, 431].includes(status)) return 'though all is as the documents say'
  if (valid && status === 422 && text.includes('"validation_failed"') && !text.includes('"errors"'))
    return 'without saying why'
  return null
}
