import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { to } from 'pg-copy-streams'
import { connect } from '../../../src/db/connect.ts'
import { queryRows } from '../../../test/harness/ledger/test-executor.ts'
import { LoadGenerator } from '../../../test/harness/load/load-generator.ts'
import type { TestDatabase } from '../../../test/harness/postgres/test-database.ts'
import { type Bench, type Checkout, runBench } from '../bench.ts'
import { untilIndexed } from '../requests/measure-requests.ts'
import { type Contender, compared, formatNumber, type Turn, takeTurns } from '../rounds.ts'
import { startServer } from '../servers.ts'
import { uniformGifts } from '../workload.ts'
import { writeBooks } from './books.ts'
import { measureHistory } from './history.ts'
import { auditOf, runMeasured } from './run-audit.ts'

let books: Promise<TestDatabase> | undefined
/** For all parts of a run. */
const booksOf = (bench: Bench): Promise<TestDatabase> => (books ??= writeBooks(bench, bench.events(1_000_000, 40_000)))

/** A command of each checkout, and reading all events as PostgreSQL sends them. */
const measureCommand =
  (usualRounds: number, ...args: readonly string[]) =>
  async (bench: Bench): Promise<string> => {
    const database = await booksOf(bench)
    const head = await queryRows(database, 'select position from ledger_head')
    const events = Number(head[0]?.['position'])
    const figuresOf = (seconds: number) => ({ seconds, 'events/s': events / seconds })
    const contenders: Contender[] = bench.checkouts.map((checkout) => ({
      name: checkout.name,
      async turn() {
        const { seconds, megabytes } = await runMeasured(auditOf(checkout, database, {}, ...args))
        return { ...figuresOf(seconds), 'peak MB': megabytes }
      },
    }))
    contenders.push({ name: 'COPY', turn: async () => figuresOf(await copyAll(database)) })
    const turns = await takeTurns(bench.rounds(usualRounds), contenders)
    const tables = `unnest(array['ledger_index', 'ledger_index_segments']) as name`
    const [indexes] = await queryRows(database, `select sum(pg_total_relation_size(name)) as bytes from ${tables}`)
    const length = `${formatNumber(events)} events, ${formatNumber(Number(indexes?.['bytes']) / events)} bytes of indexes each`
    return compared(`${args.join(' ')}, ${length}`, turns)
  }

/** Answers the seconds that it took. */
async function copyAll({ serviceUrl }: TestDatabase): Promise<number> {
  const client = await connect(serviceUrl, 'bench')
  const began = performance.now()
  const chunks = client.query(to('copy (select * from ledger_events order by position) to stdout'))
  for await (const _ of chunks) continue
  await client.end()
  return (performance.now() - began) / 1000
}

/** Gifts a second that leave a service mostly idle. */
const FEW_GIFTS = 100

/** Rows of events that were read so far: a verification reads each event twice, the second time for its reply. */
async function eventsRead(database: TestDatabase): Promise<number> {
  const [row] = await queryRows(
    database,
    `select sum(seq_tup_read + idx_tup_fetch) as count from pg_stat_user_tables where relname like 'ledger_events_from_%'`,
  )
  return Number(row?.['count']) / 2
}

/** Latency of the service with few gifts and at half its capacity, without a verification and with one of each checkout. */
async function measureService(bench: Bench): Promise<string> {
  const database = await booksOf(bench)
  const { port } = await startServer(bench, { database })
  // Books come without indexes.
  await untilIndexed(database)
  const seconds = bench.seconds(20)
  const next = uniformGifts()
  const target = { ports: [port], connections: 64 }
  await LoadGenerator.run(target, (generator) => generator.send(bench.size(10_000, 500), next))
  const full = await LoadGenerator.run(target, (generator) => generator.closed(seconds / 4, next))
  const measure = async (perSecond: number, checkout?: Checkout): Promise<Turn> => {
    const verify = checkout && auditOf(checkout, database, {}, 'verify')
    const child = verify && spawn(process.execPath, verify.words, { env: verify.env, stdio: 'ignore' })
    const before = await eventsRead(database)
    const { p50, p99 } = await LoadGenerator.run(target, (generator) => generator.paced(perSecond, seconds, next))
    const read = (await eventsRead(database)) - before
    if (child && (child.exitCode ?? child.signalCode) !== null)
      throw new Error('the verification ended before the measurement')
    child?.kill('SIGTERM')
    if (child) await once(child, 'exit')
    return { 'p50 ms': p50, 'p99 ms': p99, 'events read/s': read / seconds }
  }
  const tables = []
  for (const perSecond of [FEW_GIFTS, Math.round(full.perSecond / 2)]) {
    const during = bench.checkouts.map((checkout) => ({
      name: `verify, ${checkout.name}`,
      turn: () => measure(perSecond, checkout),
    }))
    const alone = { name: 'alone', turn: () => measure(perSecond) }
    const turns = await takeTurns(bench.rounds(5), [...during, alone])
    tables.push(compared(`${perSecond} gifts a second`, turns))
  }
  return tables.join('\n\n')
}

await runBench('npm run bench:audit', {
  verify: measureCommand(5, 'verify'),
  rebuild: measureCommand(1, 'rebuild'),
  export: measureCommand(1, 'export', '--format', 'jsonl'),
  service: measureService,
  history: measureHistory,
})
