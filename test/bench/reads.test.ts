import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'tap'
import type { Turn } from '../../scripts/bench/measure.ts'
import { askFor, compareAnswers, sampleAnswers } from '../../scripts/bench/reads/answers.ts'
import type { ReadScenario } from '../../scripts/bench/reads/measure.ts'
import { readsReport } from '../../scripts/bench/reads/report.ts'
import { seedReads } from '../../scripts/bench/reads/seed.ts'
import { readNames } from '../../scripts/bench/reads/workload.ts'
import { Servers } from '../../scripts/bench/run/servers.ts'
import { seed } from '../../scripts/bench/seed.ts'
import { connect } from '../../src/db/connect.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'

test('all implementations in the bench of reads answer the same', async (t) => {
  const database = await testDatabase(t)
  const folder = mkdtempSync(join(tmpdir(), 'bench-reads-'))
  const cleanUp = new AsyncDisposableStack()
  t.teardown(() => cleanUp.disposeAsync())
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }))
  const asOwner = async ({ ownerUrl }: { readonly ownerUrl: string }, text: string): Promise<void> => {
    const client = await connect(ownerUrl, 'bench under test')
    try {
      await client.query(text)
    } finally {
      await client.end()
    }
  }
  await seed(database, { users: 60, rooms: 3 })
  await seedReads({ asOwner }, database, { users: 60, rooms: 3, historyUsers: 2 })

  const servers = new Servers(folder, cleanUp, { ASSET_BASE_URL: 'http://assets.test' })
  const [ours, naive] = await Promise.all([servers.ours(database), servers.naive(database)])
  await compareAnswers(ours, naive, [1, 2])
  const ANSWERS = join(folder, 'answers.json')
  writeFileSync(ANSWERS, JSON.stringify(await sampleAnswers(ours)))
  const floor = await servers.floor({ ANSWERS })
  for (const name of readNames) {
    const answer = await askFor(ours, name, 1)
    t.equal(await askFor(floor, name, 1), answer, name)
    if (name !== 'wallet' && name !== 'room') t.notMatch(answer, /"data":(null|\[\])/, `${name} has something to read`)
  }
})

test('the table of reads has the ratios of rates, and of p50 for a lone connection', (t) => {
  const turn = (perSecond: number, p50: number): Turn => ({
    perSecond,
    p50,
    p99: p50 * 2,
    cost: { node: 1, postgres: 2, generator: 0 },
  })
  const scenario = (
    subject: ReadScenario['subject'],
    connections: ReadScenario['connections'],
    ...[ours, naive, floor]: readonly Turn[]
  ): ReadScenario => {
    const some = (one: Turn | undefined): Turn[] => (one === undefined ? [] : [one])
    return { subject, connections, turns: { ours: some(ours), naive: some(naive), floor: some(floor) } }
  }
  const lines = readsReport(
    ['somewhere'],
    [
      scenario('gift', 64, turn(1_000, 1), turn(500, 2), turn(10_000, 0.1)),
      scenario('decorations', 64, turn(900, 1), turn(300, 2), turn(1_000, 0.1)),
      scenario('gift', 1, turn(1_000, 1), turn(500, 2), turn(10_000, 0.1)),
      scenario('wallet', 1, turn(900, 1.5), turn(300, 1), turn(1_000, 0.1)),
      scenario('app', 64, turn(900, 1), turn(300, 2)),
    ],
  ).split('\n')
  const cellsOf = (start: string): string[] => {
    const cells = lines.find((line) => line.startsWith(start))?.split(' | ') ?? []
    return [...cells.slice(2, 8), ...cells.slice(-1)]
  }
  t.same(cellsOf('| **decorations** | 64'), [
    '900',
    '300',
    '1,000',
    '3.00',
    '0.90',
    '0.90',
    '(a) ≥ 2: met, gifts ≥ 0.8: met, (b) ≥ 0.6: met |',
  ])
  t.same(cellsOf('| wallet | alone'), ['1.50', '1.00', '0.10', '1.50', '15.0', '1.50', '(a) ≤ 1: missed |'])
  t.same(cellsOf('| **mix'), ['900', '300', '–', '3.00', '–', '0.90', '(a) ≥ 3: met |'])
  t.end()
})
