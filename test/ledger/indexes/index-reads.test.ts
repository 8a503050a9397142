import { test } from 'tap'
import { explainBalance } from '../../../src/audit/reports/explain.ts'
import { readStatement } from '../../../src/audit/reports/statement.ts'
import { BLOCK_EVENTS } from '../../../src/ledger/indexes/index-rows.ts'
import { IndexLagExceeded, readLatestEntries } from '../../../src/ledger/indexes/latest-entries.ts'
import { seededLedger } from '../../audit/seed-ledger.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { isFullRun } from '../../harness/long-tests.ts'
import { runs } from '../../harness/properties.ts'
import { Random } from '../../harness/random.ts'
import { grownLedger, indexUpTo, movementsOf, positionsOf, readLedger } from './index-fixture.ts'

const random = new Random(runs(1).seed)
const oneOf = (most: number): number => random.int(1, most + 1)
const context = { signal: new AbortController().signal, onPlanned: () => {}, onScanned: () => {} }

test('wherever the index ends, reads answer what all events say', async (t) => {
  const database = await grownLedger()
  const db = readDb(t, database)
  const events = await readLedger(database)
  const head = events.length
  const all = movementsOf(events)
  const accounts = [...new Set(all.map(({ account }) => account))]
  t.ok(accounts.length > 15)

  for (const indexed of [0, 1, 137, BLOCK_EVENTS, BLOCK_EVENTS + 1, 2 * BLOCK_EVENTS - 1, 2 * BLOCK_EVENTS + 3, head]) {
    await indexUpTo(database, indexed, 300)
    for (const account of [...accounts, 'user:99:coins']) {
      const own = all.filter((entry) => entry.account === account)
      const first = oneOf(head)
      const last = first - 1 + oneOf(head - first + 1)
      const statement = await readStatement(db, account, { first, last }, context)
      const lines = []
      for await (const page of statement.lines) lines.push(...page)
      const expected = own.filter(({ position }) => position >= first && position <= last)
      const name = `${account} from ${first} to ${last}, indexed up to ${indexed}`
      t.equal(statement.opening, own.findLast(({ position }) => position < first)?.balance ?? 0n, name)
      t.same(
        lines.map(({ position, counter_account, amount, balance }) => [position, counter_account, amount, balance]),
        expected.map(({ position, counter, amount, balance }) => [position, counter, BigInt(amount), balance]),
        name,
      )
    }

    for (let i = 0; i < (isFullRun ? 60 : 20); i += 1) {
      const chosen = Array.from({ length: oneOf(4) }, () => accounts[oneOf(accounts.length) - 1] ?? '')
      const several = [...new Set(chosen)]
      const numbered = [...new Set([...several, ...accounts.filter(() => oneOf(2) === 1)])]
      const before = oneOf(4) === 1 ? null : { position: oneOf(head + 1), number: oneOf(4) - 1 }
      const limit = oneOf(60)
      const { entries, ...rest } = await readLatestEntries(db, { accounts: several, numbered, before, limit })
      t.same(rest, { indexed })
      const expected = numberedIn(all, numbered)
        .filter(({ account }) => several.includes(account))
        .filter(({ position, number }) =>
          before === null
            ? true
            : position < before.position || (position === before.position && number < before.number),
        )
      t.same(
        entries.map(({ type: _type, at: _at, ...entry }) => entry),
        expected.slice(-limit).toReversed(),
        `${limit} of ${several.join()} before ${before?.position}-${before?.number}, indexed up to ${indexed}`,
      )
    }
    const user = oneOf(3)
    const explanation = await explainBalance(db, user, 'diamonds', context)
    const own = all.filter(({ account }) => account === `user:${user}:diamonds`)
    t.equal(explanation.sum, own.at(-1)?.balance)
    t.equal(explanation.balance, explanation.sum)
    t.same(
      explanation.latest.map(({ position, amount, balance }) => [position, amount, balance]),
      own.slice(-20).map(({ position, amount, balance }) => [position, BigInt(amount), balance]),
    )
  }
})

/** Movements with their numbers among those of the accounts in the same event. */
function numberedIn(all: ReturnType<typeof movementsOf>, numbered: readonly string[]) {
  const counts = new Map<number, number>()
  return all
    .filter(({ account }) => numbered.includes(account))
    .map((entry) => {
      const number = counts.get(entry.position) ?? 0
      counts.set(entry.position, number + 1)
      return { ...entry, number }
    })
}

test('of what is not indexed, at most 5,000 events are searched', async (t) => {
  const database = await seededLedger()
  await indexUpTo(database, 10)
  const { head } = await positionsOf(database)
  // A head further ahead costs nothing else.
  await queryRows(database, `update ledger_head set position = ${10 + 5_000}`)
  const db = readDb(t, database)
  const accounts = ['user:1:diamonds']
  const query = { accounts, numbered: accounts, before: null, limit: 10 }
  const { entries } = await readLatestEntries(db, query)
  t.equal(
    entries[0]?.balance,
    movementsOf(await readLedger(database)).findLast(({ account }) => account === accounts[0])?.balance,
  )
  await queryRows(database, `update ledger_head set position = ${10 + 5_001}`)
  await t.rejects(readLatestEntries(db, query), IndexLagExceeded)
  const page = await readLatestEntries(db, { ...query, before: { position: 10 + 5_000, number: 0 } })
  t.same(page.entries, entries, 'an older page needs fewer of them')
  await queryRows(database, `update ledger_head set position = ${head}`)
})
