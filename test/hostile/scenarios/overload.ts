import { bytesOf, plain } from '../../harness/http/request.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import type { Measure, Scenario } from '../../harness/scenario/scenario.ts'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
import { tokenOf as roleToken } from '../attack-run/roles.ts'
import { openAgency, startService, unlimited } from '../attack-run/target.ts'
import { Hammered } from '../noisy-neighbour/job.ts'
import { dearest, gather, tokenOf } from '../noisy-neighbour/population.ts'

const READERS = 200
/** Readings of the ledger at once. */
const AUDITORS = 40
const LOOK_MS = 100
const READY_MS = 5_000

/** Whether more readers than there are connections to the database make anything fail. */
export const overload: Scenario = {
  name: 'overload',
  about: `${READERS} readers at once, and ${AUDITORS} of the ledger`,
  full: { rounds: 1, seconds: 5 },
  short: { rounds: 1, seconds: 1 },
  play: crush,
}

async function crush(stage: Stage, { seconds }: Measure): Promise<void> {
  const { port } = await startService(stage, unlimited)
  await openAgency(port)
  const crowd = await gather(port)
  const hammer = new HelperProcess(new URL('../noisy-neighbour/hammer.ts', import.meta.url), {})
  stage.teardown(() => hammer.stop())
  const { draws, join, wallet } = dearest(crowd)
  const list = (path: string): Buffer => bytesOf(plain('GET', path, tokenOf(crowd.hammer)))
  const audit = (path: string): Buffer => bytesOf(plain('GET', path, roleToken('finance') ?? ''))
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
    const ready = watchReadiness(stage, port)
    const heard = await hammer.call({ kind: 'beyond', port, requests: texts, closed, pipelined: 0, seconds }, Hammered)
    const { looks, unready, slowestMs } = await ready.end()
    stage.tell(
      `${name}, ${closed} at once: ${JSON.stringify(heard)}; /readyz ready ${looks - unready} of ${looks} times, ${slowestMs.toFixed(0)} ms at most`,
    )
    const failed = Object.keys(heard).filter((status) => !['200', '429'].includes(status))
    stage.expect(failed.length === 0, `${name}, ${closed} at once: answered ${failed.join(', ')}`)
    stage.expect(unready === 0, `${name}, ${closed} at once: /readyz was not ready ${unready} of ${looks} times`)
  }
}

/** Asks for readiness all the time, as a balancer does. */
function watchReadiness(stage: Stage, port: number) {
  let ended = false
  const seen = { looks: 0, unready: 0, slowestMs: 0 }
  const looking = (async () => {
    while (!ended) {
      const started = performance.now()
      const isReady = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(READY_MS) }).then(
        async (response) => {
          await response.body?.cancel()
          return response.status === 200
        },
        () => false,
      )
      seen.looks += 1
      if (!isReady) seen.unready += 1
      seen.slowestMs = Math.max(seen.slowestMs, performance.now() - started)
      await stage.pause(LOOK_MS)
    }
  })()
  return {
    end: async () => {
      ended = true
      await looking
      return seen
    },
  }
}
