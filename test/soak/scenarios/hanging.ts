import { connect } from '../../../src/db/connect.ts'
import { queryOnce } from '../../harness/postgres/query-once.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import { type SharedEnvironment, sharedEnvironment } from '../environment/environment.ts'
import { freeze, freezeSession, superuserUrl } from '../environment/postgres.ts'
import { allReady, inRounds, inTurn } from '../rounds.ts'

/**
 * The longest that a client may wait while a statement hangs: the timeout of its batch, two failed lookups of batches with
 * an unknown outcome, and a lock timeout; 35 s in all.
 */
export const MAX_ANSWER_MS = 38_000
/** A command must be done within this time, from half a second after the end of the hang. */
const RECOVERY_MS = 1_500
/** Silent connections are given up within this time; until then their users wait. */
const READY_MS = 15_000

/** Makes statements hang; answers a function that ends it. */
type Hang = (context: ScenarioContext, environment: SharedEnvironment) => Promise<() => unknown>

/** A lock that another session holds, for example in psql. */
const holdLock =
  (statement: string): Hang =>
  async (_context, { postgres }) => {
    const session = await connect(postgres.ownerUrl, 'soak lock')
    await session.query(`begin; ${statement}`)
    return () => session.end()
  }

/** A suspended session of the service, to which no timeout of PostgreSQL applies. */
const suspendSession =
  (session: string): Hang =>
  async (context, { postgres, databaseUrl }) => {
    const url = superuserUrl(postgres.dataDir, databaseUrl())
    for (;;) {
      const [row] = await queryOnce<{ pid: number }>(url, `select pid from pg_stat_activity where ${session}`)
      const resume = row === undefined ? undefined : freezeSession(context, row.pid)
      if (resume !== undefined) return resume
      await context.pause(1)
    }
  }

/** In a transaction, which usually holds the lock of the head. */
const writer = `application_name = 'ledger writer' and state = 'active' and xact_start is not null`

/** `isOutage`: nothing can be done meanwhile. */
const faults: readonly (readonly [name: string, isOutage: boolean, hang: Hang])[] = [
  ['the session of the writer suspended', false, suspendSession(writer)],
  ['the session of the reader suspended', false, suspendSession(`application_name = 'ledger reader'`)],
  ['the head locked', false, holdLock('select from ledger_head for update')],
  ['balances locked', false, holdLock('lock table balances in access exclusive mode')],
  ['events locked', false, holdLock('lock table ledger_events in access exclusive mode')],
  ['all of PostgreSQL suspended', true, async (context, { postgres }) => freeze(context, postgres.dataDir)],
  [
    'PostgreSQL stopped and started again',
    true,
    async (_context, { postgres }) => {
      await postgres.stop()
      return () => postgres.start()
    },
  ],
  [
    'all packets to the database lost, and with them the connections',
    true,
    async (_context, { proxies }) => {
      for (const proxy of proxies.values()) proxy.silence()
      return () => proxies.forEach((proxy) => proxy.resume())
    },
  ],
]

export const hanging = inRounds({
  name: 'hanging',
  about: 'a statement that every command needs hangs, on a lock of another session or for good; or all statements do',
  full: { rounds: 2 * faults.length, seconds: 40 },
  short: { rounds: faults.length, seconds: 6 },
  open: (context) => sharedEnvironment(context, [{}]),
  async disturb({ context, environment, round, seconds }) {
    const [name, isOutage, hang] = inTurn(faults, round)
    const { answers, instances } = environment
    const release = await hang(context, environment)
    // Commands before these may still get their answers.
    const { started } = answers
    try {
      await context.pause(seconds * 1000)
      const done = answers.finalAfter(started)
      context.expect(!isOutage || done === 0, `${name}: ${done} commands were done without a database`)
      const ready = isOutage ? await Promise.all(instances.map((instance) => instance.isReady())) : []
      context.expect(!ready.includes(true), `${name}: it was ready without a database`)
    } finally {
      await release()
    }
    await allReady(environment, performance.now(), isOutage ? READY_MS : undefined)
    await context.pause(500)
    const before = answers.final.size
    const isDone = await context.waitFor(() => answers.final.size > before, RECOVERY_MS)
    context.expect(isDone, `${name}: no command was done after its end`)
    return name
  },
  async atEnd(context, { answers: { longestMs } }) {
    const holds = longestMs <= context.limit(MAX_ANSWER_MS)
    context.expect(holds, `a client waited ${longestMs.toFixed(0)} ms for an answer`)
  },
})
