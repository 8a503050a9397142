import { accountRowsSql, BLOCK_EVENTS, INDEX_CURSOR, termRowsSql } from '../../../ledger/indexes/index-rows.ts'
import type { Snapshot } from '../../../ledger/replay/snapshot.ts'
import type { Page } from '../../../ledger/storage/copy-rows.ts'
import { type Finding, MAX_FINDINGS } from '../finding.ts'
import { type IndexTable, rowsBefore } from './index-row-reader.ts'

/** Events of one statement; a multiple of a block. */
const MAX_CHECK_EVENTS = 100_000
/** More mismatches than a report has room for, as some of them only follow from others. */
const MAX_MISMATCHES = 1_000

/**
 * Rows of `account_index` for the blocks after $1 and up to $2, null for all later ones, of events up to $3, that differ
 * from what follows from the events and from the account's row before.
 */
const ACCOUNT_MISMATCHES_SQL = `
  with expected as materialized (${accountRowsSql('$1::bigint', 'least($2::bigint, $3::bigint)')}),
  actual as materialized (
    select account, base, offsets, balance from account_index
    where ($2::bigint is null or base < $2::bigint) and (base >= $1::bigint or $1::bigint = 0)
  ), joined as (
    select coalesce(e.account, i.account) as account, coalesce(e.base, i.base) as base, e.offsets as expected_offsets,
           e.change, i.offsets, i.balance
    from expected e full join actual i on i.account = e.account and i.base = e.base
  )
  select joined.account, joined.base::text as base, expected_offsets::text, change::text, offsets::text,
         joined.balance::text as balance, previous.base::text as previous_base, coalesce(previous.balance, 0)::text as previous
  from joined left join lateral (
    select base, balance from account_index p
    where p.account = joined.account and p.base < joined.base order by p.base desc limit 1
  ) previous on true
  where change is null or joined.balance is null or expected_offsets <> offsets
     or joined.balance <> coalesce(previous.balance, 0) + change
  order by joined.base, joined.account
  limit ${MAX_MISMATCHES}`

/** As `ACCOUNT_MISMATCHES_SQL`, of `event_index`. */
const TERM_MISMATCHES_SQL = `
  with expected as materialized (${termRowsSql('$1::bigint', 'least($2::bigint, $3::bigint)')}),
  actual as materialized (
    select base, terms from event_index where ($2::bigint is null or base < $2::bigint) and (base >= $1::bigint or $1::bigint = 0)
  )
  select coalesce(e.base, i.base)::text as base,
         case when e.base is null then 'the row does not follow from the ledger'
              when i.base is null then 'the row is missing from the table'
              else 'terms are not those of its events' end as message
  from expected e full join actual i on i.base = e.base
  where e.terms is distinct from i.terms
  order by coalesce(e.base, i.base)
  limit ${MAX_FINDINGS}`

const CURSOR_SQL = `
  select h.position::text as head, coalesce((select position from ledger_cursors where name = '${INDEX_CURSOR}'), 0)::text as indexed
  from ledger_head h`

interface Deviation {
  /** The position of the last row of an account that was looked at, which may be missing. */
  readonly base: number
  /** How much its balance was beyond the right one. The next row may follow from it. */
  readonly amount: bigint
}

/** Where stored rows go: to the digests of the scan that reads the events. */
export interface IndexRowReceiver {
  addIndexRows(table: IndexTable, page: Page): Promise<void>
  /** Between two queries. */
  endIndexRange(): Promise<void>
  differingBlocks(before: number): Promise<readonly number[]>
}

/**
 * Compares the indexes of the ledger with its events, up to their cursor: they may lag. Full blocks never change, so that
 * their rows are read while the subscriber continues, and compared by the digests of the scan. Only blocks that differ, and
 * the last one, are compared row by row.
 */
export class IndexChecks {
  readonly #receiver: IndexRowReceiver
  /** The rows of the blocks before it were read: a multiple of a block. */
  #read = 0
  readonly #deviations = new Map<string, Deviation>()

  constructor(receiver: IndexRowReceiver) {
    this.#receiver = receiver
  }

  /** Reads the rows of full blocks up to a position, whose events the scan has read, and the cursor. */
  async readFullBlocks(snapshot: Snapshot, upTo: number): Promise<void> {
    const { indexed } = await readCursor(snapshot)
    const end = fullBlocks(Math.min(upTo, indexed))
    if (end <= this.#read) return
    // In ranges: a long query would keep the database from vacuuming.
    while (this.#read < end) {
      const to = Math.min(end, this.#read + MAX_CHECK_EVENTS)
      for (const table of ['account_index', 'event_index'] as const) {
        for await (const page of snapshot.binaryRows(rowsBefore(table, this.#read, to)))
          await this.#receiver.addIndexRows(table, page)
      }
      this.#read = to
      await this.#receiver.endIndexRange()
    }
  }

  /** The findings, once all events were checked; the snapshot is of one moment. */
  async findings(snapshot: Snapshot): Promise<readonly Finding[]> {
    const { indexed, head } = await readCursor(snapshot)
    const findings: Finding[] = []
    if (indexed > head || indexed < 0) {
      const message = `position is ${indexed}, which is not on the ledger`
      findings.push({ check: 'projection', position: null, table: 'ledger_cursors', id: INDEX_CURSOR, message })
    }
    for (const base of await this.#receiver.differingBlocks(this.#read)) {
      if (findings.length >= MAX_FINDINGS) return findings
      const first = Math.max(0, base)
      findings.push(...(await this.#compareRows(snapshot, first, first + BLOCK_EVENTS, this.#read)))
    }
    const upTo = Math.max(0, Math.min(indexed, head))
    const full = fullBlocks(upTo)
    for (let from = this.#read; from < full && findings.length < MAX_FINDINGS; from += MAX_CHECK_EVENTS)
      findings.push(...(await this.#compareRows(snapshot, from, Math.min(full, from + MAX_CHECK_EVENTS), upTo)))
    // The block that is not full yet, and rows that no event can have led to.
    findings.push(...(await this.#compareRows(snapshot, Math.max(full, this.#read), null, upTo)))
    return findings
  }

  /** Compares the rows of blocks from one position to another, or of all later ones, of events up to a third one. */
  async #compareRows(snapshot: Snapshot, from: number, to: number | null, upTo: number): Promise<readonly Finding[]> {
    const findings: Finding[] = []
    const add = (table: string, id: string, message: string): void =>
      void findings.push({ check: 'projection', position: null, table, id, message })
    for (const row of await snapshot.query(ACCOUNT_MISMATCHES_SQL, [from, to, upTo])) {
      const message = this.#faultOf(row)
      if (message !== undefined) add('account_index', `${row['account']}:${row['base']}`, message)
    }
    for (const { base, message } of await snapshot.query(TERM_MISMATCHES_SQL, [from, to, upTo]))
      add('event_index', String(base), String(message))
    return findings
  }

  /** What is wrong with a row itself; undefined when it only follows from a wrong row before it. */
  #faultOf(row: Readonly<Record<string, string | null>>): string | undefined {
    const account = String(row['account'])
    const before = this.#deviations.get(account)
    // A row in between that was not looked at is right.
    const deviation = before === undefined || Number(row['previous_base'] ?? -1) > before.base ? 0n : before.amount
    const previous = wholeUnits(row['previous'] ?? '0')
    const expected = previous - deviation + BigInt(row['change'] ?? 0)
    const balance = row['balance'] ?? null
    const amount = (balance === null ? previous : wholeUnits(balance)) - expected
    this.#deviations.set(account, { base: Number(row['base']), amount })
    if (balance === null) return 'the row is missing from the table'
    if (row['change'] === null) return 'the row does not follow from the ledger'
    if (row['offsets'] !== row['expected_offsets'])
      return `offsets is ${row['offsets']}, expected ${row['expected_offsets']}`
    return balance === String(expected) ? undefined : `balance is ${balance}, expected ${expected}`
  }
}

/** A balance that was tampered with may have a fraction, or be no number. */
const wholeUnits = (balance: string): bigint => BigInt(/^-?\d+/.exec(balance)?.[0] ?? 0)

const fullBlocks = (position: number): number => position - (position % BLOCK_EVENTS)

async function readCursor(snapshot: Snapshot): Promise<{ readonly head: number; readonly indexed: number }> {
  const [row] = await snapshot.query(CURSOR_SQL)
  if (row === undefined) throw new Error('the ledger has no head')
  return { head: Number(row['head']), indexed: Number(row['indexed']) }
}
