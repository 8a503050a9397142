import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { credit } from '../src/features/wallet/balance-move.ts'
import { currencies } from '../src/ledger/rules/account.ts'
import { queryRows } from '../test/harness/ledger/test-executor.ts'
import type { TestDatabase } from '../test/harness/postgres/test-database.ts'
import { growBooks } from './bench/audit/books.ts'
import { startCluster } from './bench/cluster.ts'
import { openCommands, type RunAs, seed } from './bench/seed.ts'

// Makes books by the service's own rules, exports them, and has two independent programs read them: hledger and ledger
// (both Debian packages) must report no errors, and the same balance of every account, whether each journal is read alone or
// all of them one after the other. Exits with 0 when they do.

const EVENT_COUNT = 30_000
/** hledger takes four times as long for twice as many accounts. */
const POPULATION = { users: 1_000, rooms: 100 }
/** Small enough for several files, each with opening balances. */
const MAX_TRANSACTIONS = 10_000
const USERS_WITH_DOLLARS = 200

const run = promisify(execFile)
const LARGE_OUTPUT = { maxBuffer: 2 ** 30 }

/** Credits users in every currency, so also in dollars, which are printed with decimals. */
async function creditUsers(runAs: RunAs): Promise<void> {
  const users = Array.from({ length: USERS_WITH_DOLLARS }, (_, i) => i + 1)
  const inputs = users.flatMap((user_id) =>
    currencies.map((currency) => ({ user_id, currency, amount: user_id * 101 + 7, reason: 'a salary' })),
  )
  await Promise.all(inputs.map((input) => runAs('staff:ann', credit, input)))
}

/** Balances other than 0, by account; whole units (cents of a dollar). */
type Balances = ReadonlyMap<string, bigint>

async function readOurBalances(database: TestDatabase): Promise<Balances> {
  const rows = await queryRows(database, 'select account, balance::text from balances where balance <> 0')
  return new Map(rows.map(({ account, balance }) => [String(account), BigInt(balance ?? 0)]))
}

async function readHledgerBalances(file: string): Promise<Balances> {
  await run('hledger', ['-f', file, 'check', '-s', 'balancednoautoconversion', 'ordereddates'], LARGE_OUTPUT)
  const { stdout, stderr } = await run('hledger', ['-f', file, 'balance', '--flat', '-N', '-O', 'csv'], LARGE_OUTPUT)
  assertNoWarnings('hledger', stderr)
  return parseBalances(stdout.split('\n').slice(1), /^"([^"]+)","([^"]+)"$/)
}

async function readLedgerBalances(file: string): Promise<Balances> {
  const format = ['--balance-format', '%(account)\t%(total)\n', '--no-total']
  const { stdout, stderr } = await run(
    'ledger',
    ['--pedantic', '-f', file, 'balance', '--flat', ...format],
    LARGE_OUTPUT,
  )
  assertNoWarnings('ledger', stderr)
  return parseBalances(stdout.split('\n'), /^\s*([^\t]+)\t(.+)$/)
}

function assertNoWarnings(program: string, warnings: string): void {
  if (warnings.trim() !== '') throw new Error(`${program} warns: ${warnings}`)
}

function parseBalances(lines: readonly string[], pattern: RegExp): Balances {
  return new Map(
    lines
      .filter((line) => line !== '')
      .map((line) => {
        const [, account = '', text = ''] = pattern.exec(line) ?? []
        const [amount = '', currency = ''] = text.replaceAll(/[",]/g, '').split(' ')
        if (!account.endsWith(`:${currency}`)) throw new Error(`${account} has ${text}`)
        return [account, BigInt(amount.replace('.', ''))]
      }),
  )
}

function compare(program: string, theirs: Balances, ours: Balances): void {
  const accounts = new Set([...ours.keys(), ...theirs.keys()])
  const different = [...accounts].filter((account) => theirs.get(account) !== ours.get(account))
  for (const account of different.slice(0, 10)) {
    console.error(`${account}: ${theirs.get(account) ?? 0} by ${program}, ${ours.get(account) ?? 0} by us`)
  }
  if (different.length > 0) throw new Error(`${program} has different balances of ${different.length} accounts`)
}

await using cleanUp = new AsyncDisposableStack()
const started = performance.now()
const cluster = await startCluster(cleanUp)
const database = await cluster.create('books')
await seed(database, POPULATION)
await growBooks(database, EVENT_COUNT, POPULATION)
await creditUsers(openCommands(cleanUp, database).runAs)
const seconds = (): string => ((performance.now() - started) / 1000).toFixed(1)
console.log(`seeded in ${seconds()} s`)

const audit = join(import.meta.dirname, 'audit.ts')
async function exportJournals(name: string, ...more: readonly string[]): Promise<readonly string[]> {
  const folder = join(cluster.folder, name)
  const flags = ['--format', 'hledger', '--folder', folder, '--transactions', String(MAX_TRANSACTIONS), ...more]
  const { stdout } = await run(process.execPath, [audit, 'export', ...flags], {
    env: { ...process.env, DATABASE_URL: database.serviceUrl },
  })
  return stdout.trim().split('\n')
}
const files = await exportJournals('books')
const last = files.at(-1)
if (files.length < 3 || last === undefined) throw new Error(`only ${files.length} files`)
const whole = join(cluster.folder, 'whole.journal')
for (const file of await exportJournals('parts', '--no-opening'))
  writeFileSync(whole, readFileSync(file), { flag: 'a' })
const ours = await readOurBalances(database)
for (const [program, readBalances] of [
  ['hledger', readHledgerBalances],
  ['ledger', readLedgerBalances],
] as const) {
  for (const file of files.slice(0, -1)) await readBalances(file)
  for (const file of [last, whole]) compare(program, await readBalances(file), ours)
  console.log(`${program} agrees on ${ours.size} accounts after ${files.length} files, ${seconds()} s`)
}
const { stdout: sheet } = await run('hledger', ['-f', whole, 'balancesheet', '--depth', '1'], LARGE_OUTPUT)
if (!/\n Assets .*\n user .*\n Liabilities .*\n Net: +\|\| +0 \n$/s.test(sheet))
  throw new Error(`no balance sheet:\n${sheet}`)
console.log('hledger shows a balance sheet')
