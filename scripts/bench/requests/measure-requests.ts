import { setTimeout as sleep } from 'node:timers/promises'
import { BLOCK_EVENTS } from '../../../src/ledger/indexes/index-writer.ts'
import { queryRows } from '../../../test/harness/ledger/test-executor.ts'
import { LoadGenerator } from '../../../test/harness/load/load-generator.ts'
import type { TestDatabase } from '../../../test/harness/postgres/test-database.ts'
import { cpuMsOf, cpuMsWithChildren } from '../../../test/harness/process/cpu-time.ts'
import { createPositions } from '../baselines/naive-gifts.ts'
import type { Bench } from '../bench.ts'
import { compared, progress, type Turn, type Turns, takeTurns } from '../rounds.ts'
import { seedWith } from '../seed.ts'
import { type Launch, type Server, startServer } from '../servers.ts'
import { type NextRequest, tokenOf } from '../workload.ts'

export interface Scenario {
  readonly name: string
  readonly connections: number
  readonly next: NextRequest
}

const titleOf = ({ name, connections }: Scenario): string => `${name}, connections: ${connections}`

/** After so many rounds all servers start again: how one was compiled and laid out in memory counts for a while. */
const ROUNDS_OF_A_PROCESS = 5
const INDEX_POLL_MS = 20

/** A server that is compared. */
type Implementation = Launch & { readonly name: string }

/**
 * Compares this checkout with another one, or else with the naive way and with HTTP alone. `events`: of the ledger; 0: as
 * many as it takes to have users and rooms.
 */
export async function measureRequests(
  bench: Bench,
  name: string,
  scenarios: readonly Scenario[],
  events = 0,
): Promise<string> {
  progress('seeding')
  const implementations = await prepare(bench, name, events)
  const results = scenarios.map((scenario) => ({ scenario, turns: new Map() satisfies Turns }))
  const rounds = bench.rounds(5)
  for (let done = 0; done < rounds; done += ROUNDS_OF_A_PROCESS) {
    await using cleanUp = new AsyncDisposableStack()
    const servers = new Map<string, Server>()
    const isSwapped = (done / ROUNDS_OF_A_PROCESS) % 2 === 1
    for (const implementation of isSwapped ? implementations.toReversed() : implementations) {
      const server = await startServer({ ...bench, cleanUp }, implementation)
      servers.set(implementation.name, server)
      const target = { ports: [server.port], connections: 64 }
      for (const next of new Set(scenarios.map((scenario) => scenario.next)))
        await LoadGenerator.run(target, (generator) => generator.send(bench.size(10_000, 500), next))
    }
    for (const { scenario, turns } of results) {
      progress(titleOf(scenario))
      const contenders = implementations.map(({ name, script, database }) => ({
        name,
        turn: () => {
          const server = servers.get(name)
          if (server === undefined) throw new Error(`${name} does not run`)
          const whenDone = script === undefined && database !== null ? () => untilIndexed(database) : async () => {}
          return measureTurn(bench, server, scenario, database !== null, whenDone)
        },
      }))
      await takeTurns(Math.min(ROUNDS_OF_A_PROCESS, rounds - done), contenders, turns)
    }
  }
  return results.map(({ scenario, turns }) => compared(titleOf(scenario), turns)).join('\n\n')
}

async function measureTurn(
  bench: Bench,
  { port, pid }: Server,
  scenario: Scenario,
  usesPostgres: boolean,
  whenDone: () => Promise<void>,
): Promise<Turn> {
  const cpu = () => [cpuMsOf(pid), cpuMsWithChildren(bench.cluster.postmaster), cpuMsOf('self')]
  const before = cpu()
  const { connections, next } = scenario
  const closed = (generator: LoadGenerator) => generator.closed(bench.seconds(2), next)
  const { perSecond, p50, p99, answered } = await LoadGenerator.run({ ports: [port], connections }, closed)
  // What was put off until after the turn is part of what requests cost, and would otherwise be done in another one's turn.
  await whenDone()
  const [server, postgres, client] = cpu().map((after, i) => ((after - (before[i] ?? 0)) * 1_000) / answered)
  return {
    'requests/s': perSecond,
    'p50 ms': p50,
    'p99 ms': p99,
    'CPU of the server, µs a request': server ?? 0,
    ...(usesPostgres && { 'CPU of PostgreSQL': postgres ?? 0 }),
    'CPU of the client': client ?? 0,
  }
}

export async function untilIndexed(database: TestDatabase): Promise<void> {
  const behind = `select 1 from ledger_cursors c, ledger_head h where c.name = 'indexes' and c.position + ${BLOCK_EVENTS} <= h.position`
  while ((await queryRows(database, behind)).length > 0) await sleep(INDEX_POLL_MS)
}

async function prepare(bench: Bench, name: string, events: number): Promise<readonly Implementation[]> {
  const { cluster, checkouts } = bench
  const products: (Implementation & { readonly database: TestDatabase })[] = []
  for (const checkout of checkouts) {
    const database = await cluster.create(`${name}_${checkout.name}`)
    await seedWith(checkout, database, events)
    await cluster.settle(database)
    products.push({ ...checkout, database })
  }
  const [ours] = products
  if (ours === undefined || products.length > 1) return products
  const database = await cluster.create(`${name}_naive`, ours.database.name)
  await queryRows(database, createPositions)
  const answers = JSON.stringify(await sampleAnswers(bench, ours))
  const script = 'scripts/bench/baselines/server.ts'
  return [
    ours,
    { name: 'naive', script, database },
    { name: 'no database', script, database: null, environment: { ANSWERS: answers } },
  ]
}

/** The product's answers to the reads of user 1, by route, which the server without a database sends. */
async function sampleAnswers(bench: Bench, launch: Launch): Promise<Readonly<Record<string, string>>> {
  await using cleanUp = new AsyncDisposableStack()
  const { port } = await startServer({ ...bench, cleanUp }, launch)
  const headers = { authorization: `Bearer ${tokenOf(1)}` }
  const answers: Record<string, string> = {}
  for (const route of ['/wallet', '/rooms/:uid']) {
    const path = `/api/v1${route.replace(':uid', 'r1')}`
    answers[route] = await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text()
  }
  return answers
}
