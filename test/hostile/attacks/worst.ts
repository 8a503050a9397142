import { bytesOf, withToken } from '../../harness/http/request.ts'
import { worstRequests } from '../../harness/http/worst-requests.ts'
import type { AttackRun } from '../attack-run.ts'
import { tokenOf } from '../callers.ts'

/** A request holds up others for as long as its answer takes, at most. What is slow by chance is not slow each time. */
const MAX_MS = 250
const TRIES = 4

/** The worst requests that the limits admit on each route, one after the other: none holds up others for long. */
export async function worst(attackRun: AttackRun): Promise<void> {
  const { context } = attackRun
  // Readings of the ledger take their time in the database and not in the service.
  const routes = attackRun.routes.filter(({ path }) => !path.startsWith('/admin/v1/ledger/'))
  let slowest = { ms: 0, why: '' }
  await attackRun.connected(async (connection) => {
    for (const route of attackRun.some(routes)) {
      const token = tokenOf(route.kind === 'admin' ? 'operator' : route.kind === 'open' ? 'nobody' : 'user')
      for (const { name, request } of worstRequests(route)) {
        context.signal.throwIfAborted()
        const sent = withToken(request, token)
        const why = `${route.name} with ${name}`
        let ms = Number.POSITIVE_INFINITY
        for (let i = 0; i < TRIES && ms > MAX_MS; i += 1) {
          const started = performance.now()
          await attackRun.send(connection, sent, why)
          ms = Math.min(ms, performance.now() - started)
        }
        if (ms > slowest.ms) slowest = { ms, why }
        const holds = ms <= context.limit(MAX_MS)
        if (!holds) attackRun.complain(why, bytesOf(sent), `was answered only after ${ms.toFixed(0)} ms`)
      }
    }
  })
  context.report(`the worst request took ${slowest.ms.toFixed(0)} ms: ${slowest.why}`)
}
