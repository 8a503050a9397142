import { type Kysely, sql } from 'kysely'
import { micros } from '../../db/queries/micros.ts'
import type { Tables } from '../../db/tables.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { type Period, readHeadAndBalance } from './period.ts'
import type { QueryContext } from './query-context.ts'

// There is no index by account, as it would slow down every gift. So an account's movements are searched in all events of
// a period, range by range; as stored events never change, this needs no transaction.

/** Events that one statement searches. */
const EVENTS_PER_QUERY = 20_000
/** Movements that one statement returns. */
const MAX_PAGE_MOVEMENTS = 2_000

/** One movement from the view of one of its accounts. */
export interface AccountMovement {
  readonly position: number
  /** ISO 8601, microseconds. */
  readonly at: string
  readonly type: string
  readonly counter_account: string
  /** Whole units (cents of a dollar); negative when it left the account. */
  readonly amount: bigint
}

interface Row {
  readonly position: number
  readonly at: number
  readonly type: string
  readonly leg: number
  readonly counter: string
  readonly amount: number
}

/** The movements of an account in a period, in order, in pages that may be empty. */
export async function* readMovements(
  db: Kysely<Tables>,
  account: string,
  { first, last }: Period,
  { signal, onPlanned, onScanned }: QueryContext,
): AsyncGenerator<readonly AccountMovement[], void> {
  onPlanned(last - first + 1)
  for (let from = first; from <= last; from += EVENTS_PER_QUERY) {
    const to = Math.min(last, from + EVENTS_PER_QUERY - 1)
    // A range of events with many movements has more than one page.
    for (let after = { position: from, leg: 0 }; ; ) {
      signal.throwIfAborted()
      const rows = await readPage(db, account, after, to)
      yield rows.map(({ position, at, type, counter, amount }) => ({
        position,
        at: isoMicros(at),
        type,
        counter_account: counter,
        amount: BigInt(amount),
      }))
      const end = rows.at(-1)
      if (end === undefined || rows.length < MAX_PAGE_MOVEMENTS) break
      after = end
    }
    onScanned(to - from + 1)
  }
}

async function readPage(
  db: Kysely<Tables>,
  account: string,
  after: { readonly position: number; readonly leg: number },
  to: number,
): Promise<readonly Row[]> {
  const { rows } = await sql<Row>`
    select e.position, ${micros('e.at')} as at, e.type, s.leg, s.counter, s.amount
    from ledger_events e,
         unnest(e.debit, e.credit, e.amount) with ordinality as m (debit, credit, amount, number),
         lateral (values (2 * m.number - 1, m.debit, m.credit, -m.amount), (2 * m.number, m.credit, m.debit, m.amount))
           as s (leg, account, counter, amount)
    where e.position between ${after.position} and ${to}
      and (${account} = any (e.debit) or ${account} = any (e.credit))
      and s.account = ${account}
      and (e.position, s.leg) > (${after.position}::bigint, ${after.leg}::bigint)
    order by e.position, s.leg
    limit ${MAX_PAGE_MOVEMENTS}`.execute(db)
  return rows
}

/** An account's balance as of a position, from the events before or after it, whichever are fewer. */
export async function readBalanceAt(
  db: Kysely<Tables>,
  account: string,
  position: number,
  context: QueryContext,
): Promise<bigint> {
  const { head, balance } = await readHeadAndBalance(db, account)
  return position <= head / 2
    ? await sumChanges(db, account, { first: 1, last: position }, context)
    : balance - (await sumChanges(db, account, { first: position + 1, last: head }, context))
}

/** The sum of all movements of an account in a period. */
async function sumChanges(
  db: Kysely<Tables>,
  account: string,
  { first, last }: Period,
  { signal, onPlanned, onScanned }: QueryContext,
): Promise<bigint> {
  onPlanned(last - first + 1)
  let sum = 0n
  for (let from = first; from <= last; from += EVENTS_PER_QUERY) {
    const to = Math.min(last, from + EVENTS_PER_QUERY - 1)
    signal.throwIfAborted()
    const { rows } = await sql<{ sum: string | null }>`
      select sum(case when m.credit = ${account} then m.amount else 0 end
               - case when m.debit = ${account} then m.amount else 0 end) as sum
      from ledger_events e, unnest(e.debit, e.credit, e.amount) as m (debit, credit, amount)
      where e.position between ${from} and ${to}
        and (${account} = any (e.debit) or ${account} = any (e.credit))
        and ${account} in (m.debit, m.credit)`.execute(db)
    sum += BigInt(rows[0]?.sum ?? 0)
    onScanned(to - from + 1)
  }
  return sum
}
