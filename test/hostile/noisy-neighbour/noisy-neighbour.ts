import { bytesOf, jsonRequest } from '../../harness/http/request.ts'
import { median } from '../../harness/load/percentiles.ts'
import { HelperProcess } from '../../harness/process/child-process-rpc.ts'
import type { Scenario } from '../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { startPrepared } from '../attack-run/target.ts'
import { type Job, ResponseCounts } from './job.ts'
import { costliestRequests, createPopulation, gifts, tokenOf } from './population.ts'
import { type Latencies, Victims } from './victims.ts'

/** Requests a minute that each user may send: the usual. */
const LIMIT = 1_200
/** What the neighbours ask for in a second, and on how many connections. */
const PER_SECOND = 200
const CONNECTIONS = 64
/** One who is over the limit: connections on which the next request follows each answer, and one that does not wait. */
const CLOSED = 64
const PIPELINED = 1
/** How long that goes on before anybody looks: what the limit lets through is over by then. */
const LEAD_MS = 2_000
/** Requests that one within the limit sends at once. */
const BURST = 100
/**
 * The p99 of others may grow by so much while one user is over the limit; a burst of costly requests may hold them up for
 * so long, in the middle one of the rounds.
 */
const MAX_GROWTH = 1.5
const MAX_STALL_MS = 100

/** Whether one user can slow all the others down, by asking far too much or for what is costly. */
export const noisyNeighbour: Scenario = {
  name: 'crowding',
  about: `${PER_SECOND} gifts a second of 50 users, while another user asks for too much`,
  full: { rounds: 7, seconds: 4 },
  short: { rounds: 1, seconds: 1 },
  run: measureVictims,
}

type Turns = Map<string, Latencies[]>

async function measureVictims(
  context: ScenarioContext,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<void> {
  const { port, ready: people } = await startPrepared(context, { RATE_LIMIT: String(LIMIT) }, createPopulation)
  const loadProcess = new HelperProcess(new URL('./load-process.ts', import.meta.url), {})
  context.teardown(() => loadProcess.stop())
  const victims = await Victims.open(port, CONNECTIONS, gifts(people))
  context.teardown(async () => victims.close())
  const [beyond = 0] = people.receivers
  const wallet = bytesOf(jsonRequest('GET', '/v1/wallet', tokenOf(beyond))).toString('latin1')
  const jobs: readonly (readonly [string, Job | null])[] = [
    ['quiet', null],
    [
      'over the limit',
      {
        kind: 'beyond',
        port,
        requests: [wallet],
        closed: CLOSED,
        pipelined: PIPELINED,
        seconds: seconds + LEAD_MS / 1000,
      },
    ],
    ...Object.entries(costliestRequests(people)).map(([name, request]): [string, Job] => [
      name,
      { kind: 'burst', port, request: request.toString('latin1'), count: BURST, afterSeconds: seconds / 8 },
    ]),
  ]
  const turns: Turns = new Map(jobs.map(([name]) => [name, []]))
  const responseCounts = new Map<string, ResponseCounts>()
  // The first turn makes connections, plans and code warm.
  await victims.run(PER_SECOND, seconds)
  for (let round = 0; round < rounds; round += 1) {
    // Another one first each time: whatever else runs must not always meet the same one.
    for (const [i] of jobs.entries()) {
      const [name, job] = jobs[(i + round) % jobs.length] ?? ['quiet', null]
      context.signal.throwIfAborted()
      const load = job === null ? null : loadProcess.call(job, ResponseCounts)
      if (job?.kind === 'beyond') await context.pause(LEAD_MS)
      turns.get(name)?.push(await victims.run(PER_SECOND, seconds))
      if (load !== null) responseCounts.set(name, await load)
    }
  }
  report(context, turns, responseCounts)
}

function report(context: ScenarioContext, turns: Turns, responseCounts: ReadonlyMap<string, ResponseCounts>): void {
  const quiet = turns.get('quiet') ?? []
  const middle = (field: keyof Latencies, of: readonly Latencies[]): number => median(of.map((turn) => turn[field]))
  context.progress(row('while one user asks for', 'p50 ms', 'p99 ms', 'longest', 'p99 ratio', 'answers'))
  for (const [name, measured] of turns) {
    const ratio = middle('p99', measured) / middle('p99', quiet)
    const cells = (['p50', 'p99', 'longest'] as const).map((field) => middle(field, measured).toFixed(1))
    context.progress(row(name, ...cells, ratio.toFixed(2), JSON.stringify(responseCounts.get(name) ?? {})))
    const failed = Object.keys(responseCounts.get(name) ?? {}).filter((status) => !['200', '429'].includes(status))
    context.expect(failed.length === 0, `${name}: one who wants too much was answered ${failed.join(', ')}`)
    if (name === 'quiet') continue
    if (name === 'over the limit') {
      context.report(`while one user is over the limit the p99 of others is ${ratio.toFixed(2)} times as long`)
      context.expect(
        ratio <= MAX_GROWTH,
        `one over the limit makes the p99 of others ${ratio.toFixed(2)} times as long`,
      )
    } else {
      const stall = middle('longest', measured) - middle('longest', quiet)
      context.expect(stall <= MAX_STALL_MS, `${name}: held others up for ${stall.toFixed(0)} ms`)
    }
  }
}

const row = (name: string, ...cells: readonly string[]): string =>
  `${name.padEnd(24)}${cells.map((cell) => cell.padStart(10)).join('')}`
