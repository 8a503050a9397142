import { queryRows } from '../../../test/harness/ledger/test-executor.ts'
import { LoadGenerator } from '../../../test/harness/load/load-generator.ts'
import type { TestDatabase } from '../../../test/harness/postgres/test-database.ts'
import type { Bench } from '../bench.ts'
import { compared, type Turn, takeTurns } from '../rounds.ts'
import { seedWith } from '../seed.ts'
import { startServer } from '../servers.ts'
import { readsOf, uniformGifts } from '../workload.ts'
import { untilIndexed } from './measure-requests.ts'

const READS_PER_SECOND = 2

/**
 * Histories of wallets, which need the indexes, at so many gifts a second, or null: as many as it can, and how far the
 * indexes are behind then.
 */
export async function measureHistories(bench: Bench, ...rates: readonly (number | null)[]): Promise<string> {
  const seconds = bench.seconds(60)
  const servers = []
  for (const checkout of bench.checkouts) {
    const database = await bench.cluster.create(`histories_${checkout.name}`)
    await seedWith(checkout, database)
    const { port } = await startServer(bench, { ...checkout, database })
    await untilIndexed(database)
    servers.push({ ...checkout, database, port })
  }
  const gifts = uniformGifts()
  const histories = readsOf(() => '/api/v1/wallet/history')
  const measure = async (port: number, database: TestDatabase, perSecond: number | null): Promise<Turn> => {
    const target = { ports: [port], connections: 64 }
    const [sent, read] = await Promise.all([
      LoadGenerator.run(target, (generator) =>
        perSecond === null ? generator.closed(seconds, gifts) : generator.paced(perSecond, seconds, gifts),
      ),
      LoadGenerator.run({ ...target, connections: 8, accepts: () => true }, (generator) =>
        generator.paced(READS_PER_SECOND, seconds, histories),
      ),
    ])
    const [row] = await queryRows(
      database,
      `select h.position - c.position as behind from ledger_head h, ledger_cursors c where c.name = 'indexes'`,
    )
    const began = performance.now()
    await untilIndexed(database)
    return {
      'gifts a second': sent.perSecond,
      histories: read.answered,
      'of which 500': read.statuses['500'] ?? 0,
      'p99 ms of histories': read.p99,
      'p99 ms of gifts': sent.p99,
      'events behind at the end': Number(row?.['behind']),
      's until none was': (performance.now() - began) / 1000,
    }
  }
  const tables = []
  for (const perSecond of rates) {
    const title = perSecond === null ? 'as many gifts as it can' : `${perSecond} gifts a second`
    const contenders = servers.map(({ name, port, database }) => ({
      name,
      turn: () => measure(port, database, perSecond),
    }))
    tables.push(compared(`${title} for ${seconds} s`, await takeTurns(bench.rounds(1), contenders)))
  }
  return tables.join('\n\n')
}
