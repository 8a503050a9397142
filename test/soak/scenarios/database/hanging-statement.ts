import { connect } from '../../../../src/db/connect.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { waitFor } from '../../../harness/scenario/wait-for.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { type SharedEnvironment, sharedEnvironment } from '../../environment/environment.ts'
import { freezeSession, superuserUrl } from '../../environment/own-postgres.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/**
 * The longest that a client may wait while a statement hangs: until its batch is given up, until two batches of which
 * it is not known whether they happened are asked for in vain, and for a lock that is not to be had; 35 s in all.
 */
export const ANSWERED_MS = 38_000

/** Half a second after a statement has hung something is done again within this. */
const DONE_MS = 1_500

/** Begins to make statements hang; answers what ends that. */
type Hang = (context: ScenarioContext, environment: SharedEnvironment) => Promise<() => Promise<void>>

/** What somebody with psql may hold on to. */
const holding =
  (statement: string): Hang =>
  async (_, { postgres }) => {
    const session = await connect(postgres.ownerUrl, 'soak lock')
    await session.query(`begin; ${statement}`)
    return () => session.end()
  }

/** A session of the service stands still, where no time limit of PostgreSQL's reaches. */
const standingStill =
  (session: string): Hang =>
  async (context, { postgres, databaseUrl }) => {
    const client = await connect(superuserUrl(postgres.dataDir, databaseUrl()), 'soak session')
    try {
      for (;;) {
        const { rows } = await client.query<{ pid: number }>(`select pid from pg_stat_activity where ${session}`)
        const resume = rows[0] === undefined ? undefined : freezeSession(context, rows[0].pid)
        if (resume !== undefined) return async () => resume()
        await context.pause(1)
      }
    } finally {
      await client.end()
    }
  }

/** In the middle of a transaction, which mostly holds the head of the ledger. */
const writer = `application_name = 'ledger writer' and state = 'active' and xact_start is not null`
const reader = `application_name = 'ledger reader'`

const ways: readonly { readonly what: string; readonly hang: Hang }[] = [
  { what: 'the session of the writer stands still', hang: standingStill(writer) },
  { what: 'the session of the reader stands still', hang: standingStill(reader) },
  ...[
    'select from ledger_head for update',
    'lock table balances in access exclusive mode',
    'lock table ledger_events in access exclusive mode',
  ].map((statement) => ({ what: `another session holds: ${statement}`, hang: holding(statement) })),
]

export const hangingStatement: Scenario = {
  name: 'hanging-statement',
  about: 'a statement that every command needs hangs: for a lock of somebody else, or for good',
  full: { rounds: 10, seconds: 40 },
  short: { rounds: 3, seconds: 6 },
  async run(context, { rounds, seconds }) {
    const environment = await sharedEnvironment(context, [{}])
    for (let round = 0; round < rounds; round += 1) {
      const way = ways[round % ways.length]
      if (way === undefined) continue
      await hangs(context, environment, way.hang, seconds)
      context.progress(`round ${round + 1} of ${rounds}: ${way.what}; position ${environment.books.position}`)
    }
    const { longestMs } = environment.answers
    context.expect(longestMs <= context.limit(ANSWERED_MS), `somebody waited ${longestMs.toFixed(0)} ms for an answer`)
    await runFinalChecks(context, environment)
  },
}

async function hangs(
  context: ScenarioContext,
  environment: SharedEnvironment,
  hang: Hang,
  seconds: number,
): Promise<void> {
  const load = new Load(context, environment, CLIENTS)
  await context.pause(500)
  const release = await hang(context, environment)
  let since: number
  try {
    await context.pause(seconds * 1000)
    since = performance.now()
  } finally {
    await release()
  }
  for (const instance of environment.instances) await instance.ready(since)
  await context.pause(500)
  const before = environment.answers.final.size
  const done = await waitFor(context, () => environment.answers.final.size > before, DONE_MS)
  context.expect(done, 'nothing was done after a statement had hung')
  await load.stop()
  await reconcile(context, environment)
}
