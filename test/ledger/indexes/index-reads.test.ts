import { test } from 'tap'
import { explainBalance } from '../../../src/audit/reports/explain.ts'
import { readStatement } from '../../../src/audit/reports/statement.ts'
import { BLOCK_EVENTS } from '../../../src/ledger/indexes/index-writer.ts'
import { type Place, readAllLatestEntries, readLatestEntries } from '../../../src/ledger/indexes/latest-entries.ts'
import { seededLedger } from '../../audit/seed-ledger.ts'
import { readDb } from '../../harness/app/test-app.ts'
import { isFullRun } from '../../harness/long-tests.ts'
import { runs } from '../../harness/properties.ts'
import { Random } from '../../harness/random.ts'
import { grownLedger, indexUpTo, movementsOf, positionsOf, readLedger, setIndexed } from './index-fixture.ts'

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

  for (const upTo of [0, BLOCK_EVENTS, 2 * BLOCK_EVENTS, 3 * BLOCK_EVENTS, head]) {
    const indexed = await indexUpTo(database, upTo)
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
      t.same(rest, { indexed, isCut: false })
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

test('of what is not indexed, the first 5,000 events are searched', async (t) => {
  const database = await seededLedger()
  const { head } = await positionsOf(database)
  const db = readDb(t, database)
  const accounts = ['user:1:diamonds', 'user:2:diamonds']
  const all = numberedIn(movementsOf(await readLedger(database)), accounts)
  const expectEntries = async (before: Place | null, end: number, indexed: number) => {
    const query = { accounts, numbered: accounts, before, limit: 100 }
    const latest = await readLatestEntries(db, query)
    t.equal(latest.indexed, indexed)
    if (latest.isCut) await t.rejects(readAllLatestEntries(db, query), { name: 'IndexLagExceeded' })
    else t.same(await readAllLatestEntries(db, query), latest.entries)
    t.equal(latest.isCut, end < (before === null ? head : before.position - 1))
    t.same(
      latest.entries.map(({ type: _type, at: _at, ...entry }) => entry),
      all.filter(({ account, position }) => accounts.includes(account) && position <= end).toReversed(),
      `up to ${end}`,
    )
  }
  for (const missed of [0, 1, 5, head, head + 3]) {
    const indexed = head - 5_000 - missed
    await setIndexed(database, indexed)
    await expectEntries(null, head - missed, missed === 0 ? indexed : head - missed)
  }
  await setIndexed(database, head - 5_005)
  await expectEntries({ position: head - 5, number: 0 }, head - 6, head - 5_005)
  await expectEntries({ position: head - 3, number: 0 }, head - 5, head - 5)
})
