import { connect } from '../../../src/db/connect.ts'
import { openPool } from '../../../src/db/pool.ts'
import { makeInstantTransfer } from '../../../src/features/agency/instant-transfer.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { credit, debit } from '../../../src/features/wallet/balance-move.ts'
import { BLOCK_EVENTS, INDEX_CURSOR, IndexWriter } from '../../../src/ledger/indexes/index-writer.ts'
import { LedgerIndexer } from '../../../src/ledger/indexes/indexer.ts'
import { currencies } from '../../../src/ledger/rules/account.ts'
import type { LedgerEntry } from '../../../src/ledger/storage/event-hash.ts'
import { eventColumns, eventsAfter, parseEntry } from '../../../src/ledger/storage/stored-event.ts'
import { seededLedger } from '../../audit/seed-ledger.ts'
import { createTestExecutor, queryRows, type TestExecutor, testChains } from '../../harness/ledger/test-executor.ts'
import { copyOf, type TestDatabase } from '../../harness/postgres/test-database.ts'
import { runs } from '../../harness/properties.ts'
import { Random } from '../../harness/random.ts'
import type { Scope } from '../../harness/scope.ts'
import { until } from '../../harness/until.ts'

/** Writes the index; its failures are kept. */
export function startIndexer(t: Scope, { serviceUrl }: TestDatabase, pollMs = 5) {
  const failures: unknown[] = []
  const failureLog = { failed: (error: unknown) => void failures.push(error), succeeded: () => {} }
  const indexer = new LedgerIndexer({ url: serviceUrl, failureLog, pollMs })
  t.teardown(() => indexer.stop())
  indexer.start()
  return { indexer, failures }
}

export async function positionsOf(database: TestDatabase): Promise<{ indexed: number; head: number }> {
  const [row] = await queryRows(
    database,
    `select (select position from ledger_cursors where name = '${INDEX_CURSOR}') as indexed, position as head from ledger_head`,
  )
  return { indexed: Number(row?.['indexed'] ?? 0), head: Number(row?.['head']) }
}

export const untilIndexed = (database: TestDatabase): Promise<void> =>
  until(async () => {
    const { indexed, head } = await positionsOf(database)
    return indexed === head - (head % BLOCK_EVENTS)
  })

/** Moves the cursor alone. Before the first position there is nothing to be indexed. */
export async function setIndexed(database: TestDatabase, position: number): Promise<void> {
  await queryRows(
    database,
    `insert into ledger_cursors values ('${INDEX_CURSOR}', ${position})
     on conflict (name) do update set position = excluded.position`,
  )
}

/** Adds events that move nothing, without the time that commands take: copies of the last one. */
export async function addIdleEvents(database: TestDatabase, count: number): Promise<void> {
  await queryRows(
    database,
    `with added as (
       insert into ledger_events
       select (jsonb_populate_record(e, jsonb_build_object('position', e.position + n, 'movements', ''))).*
       from ledger_events e, generate_series(1, ${count}) as n
       where e.position = (select position from ledger_head)
     )
     update ledger_head set position = position + ${count}, batch = gen_random_uuid()`,
  )
}

/** Indexes the whole blocks up to a position, as the service's role. Answers where the index ends. */
export async function indexUpTo(database: TestDatabase, position: number): Promise<number> {
  const client = await connect(database.serviceUrl, 'test')
  const pool = openPool(database.serviceUrl, { max: 1, application_name: 'test' })
  try {
    const writer = await IndexWriter.open(client)
    while (writer.indexed + BLOCK_EVENTS <= position) {
      await writer.addBlock(await eventsAfter(pool, writer.indexed, BLOCK_EVENTS))
      await writer.tidy()
    }
    return writer.indexed
  } finally {
    await pool.end()
    await client.end()
  }
}

/** What each executor does next. */
const choices = new WeakMap<TestExecutor, Random>()

/** Runs random commands of the users 1 to 3 on a seeded ledger; refusals are as good as any. */
export async function runRandomCommands(executor: TestExecutor, count: number): Promise<void> {
  const { run } = executor
  const random = choices.get(executor) ?? new Random(runs(1).seed)
  choices.set(executor, random)
  const oneOf = (most: number): number => random.int(1, most + 1)
  const send = sendGift({ chains: testChains, ownerPercent: 5 })
  await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const user = oneOf(3)
      const currency = currencies[oneOf(currencies.length) - 1] ?? 'coins'
      const amount = oneOf(1_000)
      const actor = `user:${user}`
      switch (oneOf(5)) {
        case 1:
          await run(credit, { user_id: user, currency, amount, reason: 'a "user_id":7' }, { actor: 'staff:ann' })
          break
        case 2:
          await run(debit, { holder: 'user', id: user, currency, amount, reason: 'back' }, { key: `key ${i}` })
          break
        case 3:
          await run(
            makeInstantTransfer,
            {
              caller_id: user,
              receiver_id: oneOf(3),
              amount: oneOf(200),
              agent_benefit: false,
            },
            { actor },
          )
          break
        default: {
          const receiver_ids = [1, 2, 3].filter((id) => id !== user).slice(0, oneOf(2))
          const gift = { caller_id: user, sender_id: user, decoration_id: oneOf(2), receiver_ids, quantity: oneOf(3) }
          await run(send, { ...gift, room: 9, from_bag: oneOf(4) === 1, encrypted: false }, { actor, key: `gift ${i}` })
        }
      }
    }),
  )
}

/** Runs random commands until the ledger has at least so many events. */
export async function growLedger(ledger: TestExecutor, database: TestDatabase, events: number): Promise<void> {
  while ((await positionsOf(database)).head < events) await runRandomCommands(ledger, 100)
}

let grown: Promise<TestDatabase> | null = null

/** A seeded ledger of more than two blocks, not indexed: a copy of one that grew once in this process. */
export async function grownLedger(): Promise<TestDatabase> {
  grown ??= seededLedger((t, database) => growLedger(createTestExecutor(t, database.serviceUrl), database, 1_200))
  return copyOf(await grown)
}

export async function readLedger(database: TestDatabase): Promise<readonly LedgerEntry[]> {
  const rows = await queryRows(database, `select ${eventColumns} from ledger_events e order by e.position`)
  return rows.map(parseEntry)
}

/** A movement from the view of one account, with the balance after it. */
interface ModelEntry {
  readonly account: string
  readonly position: number
  readonly leg: number
  readonly counter: string
  readonly amount: number
  readonly balance: bigint
}

/** All movements of all accounts, in order, by the plainest means. */
export function movementsOf(events: readonly LedgerEntry[]): readonly ModelEntry[] {
  const balances = new Map<string, bigint>()
  const found: ModelEntry[] = []
  const add = (account: string, position: number, leg: number, counter: string, amount: number): void => {
    const balance = (balances.get(account) ?? 0n) + BigInt(amount)
    balances.set(account, balance)
    found.push({ account, position, leg, counter, amount, balance })
  }
  for (const { position, movements } of events) {
    for (const [i, { debit: from, credit: to, amount }] of movements.entries()) {
      add(from, position, 2 * i, to, -amount)
      add(to, position, 2 * i + 1, from, amount)
    }
  }
  return found
}
