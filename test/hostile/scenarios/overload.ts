import { bytesOf, jsonRequest } from '../../harness/http/request.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import type { Extent, Scenario } from '../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { tokenOf as roleToken } from '../attack-run/roles.ts'
import { openAgency, startService, unlimited } from '../attack-run/target.ts'
import { ResponseCounts } from '../noisy-neighbour/job.ts'
import { costliestRequests, createPopulation, tokenOf } from '../noisy-neighbour/population.ts'

const READERS = 200
/** Readings of the ledger at once. */
const AUDITORS = 40
const PROBE_INTERVAL_MS = 100
const READY_MS = 5_000

/** Whether more readers than there are connections to the database make anything fail. */
export const overload: Scenario = {
  name: 'overload',
  about: `${READERS} readers at once, and ${AUDITORS} of the ledger`,
  full: { rounds: 1, seconds: 5 },
  short: { rounds: 1, seconds: 1 },
  run: crush,
}

async function crush(context: ScenarioContext, { seconds }: Extent): Promise<void> {
  const { port } = await startService(context, unlimited)
  await openAgency(port)
  const population = await createPopulation(port)
  const loadProcess = new HelperProcess(new URL('../noisy-neighbour/load-process.ts', import.meta.url), {})
  context.teardown(() => loadProcess.stop())
  const { draws, join, wallet } = costliestRequests(population)
  const list = (path: string): Buffer => bytesOf(jsonRequest('GET', path, tokenOf(population.attacker)))
  const audit = (path: string): Buffer => bytesOf(jsonRequest('GET', path, roleToken('finance') ?? ''))
  const loads: Readonly<
    Record<string, { readonly requests: readonly (Buffer | undefined)[]; readonly closed: number }>
  > = {
    'users reading': {
      requests: [
        wallet,
        draws,
        join,
        list('/v1/agency/target-withdraw-requests/charging-agents'),
        list('/v1/rooms/R1'),
      ],
      closed: READERS,
    },
    'staff reading': {
      requests: [
        audit('/admin/v1/users?limit=200'),
        audit('/admin/v1/withdrawals?limit=200'),
        audit('/admin/v1/ledger/events?limit=200'),
      ],
      closed: READERS,
    },
    'finance reading the ledger': {
      requests: [
        audit('/admin/v1/ledger/trial-balance'),
        audit('/admin/v1/ledger/statement?account=user:1:dollars'),
        audit('/admin/v1/ledger/verify'),
      ],
      closed: AUDITORS,
    },
  }
  for (const [name, { requests, closed }] of Object.entries(loads)) {
    const texts = requests.flatMap((request) => (request === undefined ? [] : [request.toString('latin1')]))
    const ready = watchReadiness(context, port)
    const responseCounts = await loadProcess.call(
      { kind: 'beyond', port, requests: texts, closed, pipelined: 0, seconds },
      ResponseCounts,
    )
    const { probes, unready, slowestMs } = await ready.end()
    context.report(
      `${name}, ${closed} at once: ${JSON.stringify(responseCounts)}; /readyz ready ${probes - unready} of ${probes} times, ${slowestMs.toFixed(0)} ms at most`,
    )
    const failed = Object.keys(responseCounts).filter((status) => !['200', '429'].includes(status))
    context.expect(failed.length === 0, `${name}, ${closed} at once: answered ${failed.join(', ')}`)
    context.expect(unready === 0, `${name}, ${closed} at once: /readyz was not ready ${unready} of ${probes} times`)
  }
}

/** Asks for readiness all the time, as a balancer does. */
function watchReadiness(context: ScenarioContext, port: number) {
  let stopped = false
  const seen = { probes: 0, unready: 0, slowestMs: 0 }
  const looking = (async () => {
    while (!stopped) {
      const started = performance.now()
      const isReady = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(READY_MS) }).then(
        async (response) => {
          await response.body?.cancel()
          return response.status === 200
        },
        () => false,
      )
      seen.probes += 1
      if (!isReady) seen.unready += 1
      seen.slowestMs = Math.max(seen.slowestMs, performance.now() - started)
      await context.pause(PROBE_INTERVAL_MS)
    }
  })()
  return {
    end: async () => {
      stopped = true
      await looking
      return seen
    },
  }
}
