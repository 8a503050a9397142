import { join } from 'node:path'
import { queryRows } from '../../../test/harness/ledger/test-executor.ts'
import { keys } from '../../../test/harness/scenario/service-keys.ts'
import type { Bench } from '../bench.ts'
import { untilIndexed } from '../requests/measure-requests.ts'
import { formatNumber, progress, table } from '../rounds.ts'
import { seed } from '../seed.ts'
import { startServer } from '../servers.ts'
import { growBooks } from './books.ts'
import { auditOf, runMeasured } from './run-audit.ts'

/** Events after the seal. */
const UNSEALED = 50_000

/** What the commands take on a long ledger that is sealed shortly before its end, while the service runs. */
export async function measureHistory(bench: Bench): Promise<string> {
  const events = bench.events(5_000_000, 60_000)
  const database = await bench.cluster.create('history')
  const env = { DATA_DIR: join(bench.cluster.folder, 'history'), ...keys }
  const [checkout] = bench.checkouts
  if (checkout === undefined) throw new Error('there is no checkout')
  const rows: (string | number)[][] = []
  const measure = async (what: string, ...args: readonly string[]): Promise<string> => {
    progress(what)
    const { seconds, cpuSeconds, megabytes, output } = await runMeasured(auditOf(checkout, database, env, ...args))
    rows.push([what, formatNumber(seconds), formatNumber(cpuSeconds), formatNumber(megabytes)])
    return output
  }
  progress(`writing books of ${events} events`)
  await seed(database)
  await growBooks(database, Math.max(1, events - UNSEALED))
  await bench.cluster.settle(database)
  await measure('seal, from 1', 'seal')
  await growBooks(database, events)
  await bench.cluster.settle(database)
  await startServer(bench, { database })
  progress('indexing')
  await untilIndexed(database)
  await measure('verify, from the seal', 'verify')
  await measure('trial-balance of the past', 'trial-balance', '--as-of', String(events - 10_000))
  await measure('draws, from the seal', 'draws')
  const output = await measure('rebuild, from the seal', 'rebuild', '--json')
  await measure('verify --full', 'verify', '--full')
  const { swapMs } = JSON.parse(output)
  const sizes = await queryRows(
    database,
    `select coalesce(pg_partition_root(oid), oid)::regclass::text as name, sum(pg_total_relation_size(oid)) as bytes
     from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r' group by 1 order by 2 desc limit 6`,
  )
  return [
    table(['command', 's', 'CPU s of Node', 'peak MB'], rows),
    `Commands waited for ${formatNumber(Number(swapMs))} ms while tables were swapped.`,
    table(
      ['table', 'bytes an event'],
      sizes.map(({ name, bytes }) => [String(name), formatNumber(Number(bytes) / events)]),
    ),
  ].join('\n\n')
}
