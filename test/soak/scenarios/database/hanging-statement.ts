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
 * The longest that a client may wait while a statement hangs: the timeout of its batch, two failed lookups of batches with
 * an unknown outcome, and a lock timeout; 35 s in all.
 */
export const MAX_ANSWER_MS = 38_000

/** A command must be done within this time, from half a second after the end of the hang. */
const RECOVERY_MS = 1_500

/** Makes statements hang; answers a function that ends it. */
type Hang = (context: ScenarioContext, environment: SharedEnvironment) => Promise<() => Promise<void>>

/** A lock that another session holds, for example in psql. */
const holdLock =
  (statement: string): Hang =>
  async (_, { postgres }) => {
    const session = await connect(postgres.ownerUrl, 'soak lock')
    await session.query(`begin; ${statement}`)
    return () => session.end()
  }

/** A suspended session of the service, to which no timeout of PostgreSQL applies. */
const suspendSession =
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

/** In a transaction, which usually holds the lock of the head. */
const writer = `application_name = 'ledger writer' and state = 'active' and xact_start is not null`
const reader = `application_name = 'ledger reader'`

const faults: readonly { readonly name: string; readonly hang: Hang }[] = [
  { name: 'the session of the writer is suspended', hang: suspendSession(writer) },
  { name: 'the session of the reader is suspended', hang: suspendSession(reader) },
  ...[
    'select from ledger_head for update',
    'lock table balances in access exclusive mode',
    'lock table ledger_events in access exclusive mode',
  ].map((statement) => ({ name: `another session holds: ${statement}`, hang: holdLock(statement) })),
]

export const hangingStatement: Scenario = {
  name: 'hanging-statement',
  about: 'a statement that every command needs hangs, on a lock of another session or for good',
  full: { rounds: 10, seconds: 40 },
  short: { rounds: 3, seconds: 6 },
  async run(context, { rounds, seconds }) {
    const environment = await sharedEnvironment(context, [{}])
    for (let round = 0; round < rounds; round += 1) {
      const fault = faults[round % faults.length]
      if (fault === undefined) continue
      await runHang(context, environment, fault.hang, seconds)
      context.progress(`round ${round + 1} of ${rounds}: ${fault.name}; position ${environment.books.position}`)
    }
    const { longestMs } = environment.answers
    context.expect(
      longestMs <= context.limit(MAX_ANSWER_MS),
      `a client waited ${longestMs.toFixed(0)} ms for an answer`,
    )
    await runFinalChecks(context, environment)
  },
}

async function runHang(
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
  const done = await waitFor(context, () => environment.answers.final.size > before, RECOVERY_MS)
  context.expect(done, 'no command was done after the end of the hang')
  await load.stop()
  await reconcile(context, environment)
}
