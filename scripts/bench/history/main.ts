import { Command, InvalidArgumentError } from 'commander'
import { type Kysely, sql } from 'kysely'
import { explainBalance } from '../../../src/audit/reports/explain.ts'
import { readStatement } from '../../../src/audit/reports/statement.ts'
import { headOf } from '../../../src/db/head.ts'
import { keyedReadSettings, openPool } from '../../../src/db/pool.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'
import type { Tables } from '../../../src/db/tables.ts'
import { readIndexed } from '../../../src/ledger/indexes/index-reads.ts'
import { LedgerIndexer } from '../../../src/ledger/indexes/indexer.ts'
import { readLatestEntries } from '../../../src/ledger/indexes/latest-entries.ts'
import { growBooks } from '../audit/books.ts'
import { progress } from '../bench.ts'
import { type DatabaseUrls, startCluster } from '../run/cluster.ts'
import { describeRun } from '../run/machine.ts'
import { runAndExit } from '../run/run-and-exit.ts'
import { seed } from '../seed.ts'

const POLL_MS = 100
/** Movements of a page, and pages of each kind of account. */
const PAGE_MOVEMENTS = 50
const PAGES = 500
/** What 95 of 100 pages must not take longer than. */
const MAX_PAGE_MS = 20
const HOUSE = 'house:gifts:diamonds'

const context = { signal: new AbortController().signal, onPlanned: () => {}, onScanned: () => {} }

async function measure(events: number, cleanUp: AsyncDisposableStack): Promise<string> {
  const cluster = await startCluster(cleanUp, { statements: false })
  const database = await cluster.create('books')
  await seed(database)
  progress(`writing books of ${events} events`)
  await growBooks(database, events)
  await cluster.asOwner(database, 'vacuum (analyze)')
  await cluster.asAdmin(['checkpoint'])
  const report = await measureReads(database)
  return ['# Histories', '', ...(await describeRun(cluster)).map((line) => `- ${line}`), '', ...report].join('\n')
}

async function measureReads({ serviceUrl }: DatabaseUrls): Promise<readonly string[]> {
  const pool = openPool(serviceUrl, { max: 2, application_name: 'bench', settings: keyedReadSettings })
  await using closing = new AsyncDisposableStack()
  const db = queryBuilder(pool)
  closing.defer(() => db.destroy())
  const head = await headOf(db)
  const users = await accountsOf(db)
  const lines = [`| ${head.toLocaleString('en')} events | ms |`, '|---|---:|']
  const add = (name: string, ms: number): void => void lines.push(`| ${name} | ${ms.toFixed(1)} |`)

  const [first = HOUSE] = users
  add('statement of a user before the index', await timeStatement(db, first, head))
  progress('indexing')
  const indexing = await timeIndexing(serviceUrl, db, head)
  add('indexing all events, for each 1,000', (indexing / head) * 1_000)
  for (const [name, accounts] of [
    ['users', users],
    ['the house', Array<string>(PAGES).fill(HOUSE)],
  ] as const) {
    const times: number[] = []
    for (const account of accounts) {
      const query = { accounts: [account], numbered: [account], before: null, limit: PAGE_MOVEMENTS }
      times.push(await timeOf(() => readLatestEntries(db, query)))
    }
    times.sort((a, b) => a - b)
    const p95 = times[Math.floor(times.length * 0.95)] ?? Number.NaN
    add(`the last ${PAGE_MOVEMENTS} movements of ${name}, median`, times[Math.floor(times.length / 2)] ?? Number.NaN)
    add(
      `the last ${PAGE_MOVEMENTS} movements of ${name}, p95 (≤ ${MAX_PAGE_MS}: ${p95 <= MAX_PAGE_MS ? 'met' : 'missed'})`,
      p95,
    )
  }
  add('statement of a user', await timeStatement(db, first, head))
  add('statement of the house', await timeStatement(db, HOUSE, head))
  const explained = Number(first.split(':')[1])
  add('explanation of a balance', await timeOf(() => explainBalance(db, explained, 'diamonds', context)))
  return lines
}

async function accountsOf(db: Kysely<Tables>): Promise<readonly string[]> {
  const { rows } = await sql<{ account: string }>`
    select account from balances where account like 'user:%:diamonds' order by random() limit ${PAGES}`.execute(db)
  return rows.map(({ account }) => account)
}

/** Milliseconds until the subscriber has indexed all events. */
const timeIndexing = (url: string, db: Kysely<Tables>, head: number): Promise<number> =>
  timeOf(async () => {
    const failureLog = { failed: (error: unknown) => progress(String(error)), succeeded: () => {} }
    const indexer = new LedgerIndexer({ url, failureLog, commandsWait: () => false })
    indexer.start()
    while ((await readIndexed(db)) < head) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    await indexer.stop()
  })

const timeStatement = (db: Kysely<Tables>, account: string, head: number): Promise<number> =>
  timeOf(async () => {
    const { lines } = await readStatement(db, account, { first: 1, last: head }, context)
    while (!(await lines.next()).done) continue
  })

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

const count = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Expected a whole number of 1 or more.')
  return value
}

const { events } = new Command('npm run bench:history --')
  .description('Measures histories of accounts, statements and explanations, and the writing of their index')
  .option('--events <n>', 'events of the ledger', count, 2_000_000)
  .parse()
  .opts<{ readonly events: number }>()
await runAndExit((cleanUp) => measure(events, cleanUp))
