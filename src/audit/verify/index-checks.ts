import { accountRowsSql, BLOCK_EVENTS, INDEX_CURSOR, termRowsSql } from '../../ledger/indexes/index-rows.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { type Finding, MAX_FINDINGS } from '../finding.ts'

/** Fewer events than this wait for a later check, as each check is a statement. */
const MIN_CHECK_EVENTS = 2_500
/** Events of one statement; a multiple of a block. */
const MAX_CHECK_EVENTS = 100_000
/** More mismatches than a report has room for, as some of them only follow from others. */
const MAX_MISMATCHES = 1_000

/**
 * Rows of `account_index` for the blocks after $1 and up to $2, of events up to $3, that differ from what follows from
 * the events and from the account's row before.
 */
const ACCOUNT_MISMATCHES_SQL = `
  with expected as materialized (${accountRowsSql('$1::bigint', 'least($2::bigint, $3::bigint)')}),
  actual as materialized (
    select account, base, offsets, balance from account_index
    where base < $2::bigint and (base >= $1::bigint or $1::bigint = 0)
  ), joined as (
    select coalesce(e.account, i.account) as account, coalesce(e.base, i.base) as base, e.offsets as expected_offsets,
           e.change, i.offsets, i.balance, lag(i.balance) over (
             partition by coalesce(e.account, i.account) order by coalesce(e.base, i.base)
           ) as balance_before
    from expected e full join actual i on i.account = e.account and i.base = e.base
  ), compared as (
    -- The first row of an account follows another one, which is looked up: once for each account, not for each row.
    select *, coalesce(balance_before, (
      select balance from account_index p
      where p.account = joined.account and p.base < joined.base order by p.base desc limit 1
    ), 0) as previous from joined
  )
  select account, base::text as base, expected_offsets::text, change::text, offsets::text, balance::text, previous::text
  from compared
  where change is null or balance is null or expected_offsets <> offsets or balance <> previous + change
  order by compared.base, account
  limit ${MAX_MISMATCHES}`

/** As `ACCOUNT_MISMATCHES_SQL`, of `event_index`. */
const TERM_MISMATCHES_SQL = `
  with expected as materialized (${termRowsSql('$1::bigint', 'least($2::bigint, $3::bigint)')}),
  actual as materialized (
    select base, terms from event_index where base < $2::bigint and (base >= $1::bigint or $1::bigint = 0)
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

/**
 * Compares the indexes of the ledger with its events, up to their cursor: they may lag. Full blocks never change, so that
 * they are compared while the subscriber goes on.
 */
export class IndexChecks {
  /** What was compared: a multiple of a block. */
  #checked = 0
  /** By account, how much the balance of its last row was beyond the right one. The rows after it follow from it. */
  readonly #deviations = new Map<string, bigint>()

  /** Compares full blocks up to a position and the cursor, if there are enough of them. */
  async checkFullBlocks(snapshot: Snapshot, upTo: number): Promise<readonly Finding[]> {
    const { indexed } = await readCursor(snapshot)
    const end = fullBlocks(Math.min(upTo, indexed))
    return end - this.#checked < MIN_CHECK_EVENTS ? [] : this.#check(snapshot, end, end)
  }

  /** Compares everything that was not compared yet; the snapshot is of one moment. */
  async checkRest(snapshot: Snapshot): Promise<readonly Finding[]> {
    const { indexed, head } = await readCursor(snapshot)
    const findings: Finding[] = []
    if (indexed > head || indexed < 0) {
      const message = `position is ${indexed}, which is not on the ledger`
      findings.push({ check: 'projection', position: null, table: 'ledger_cursors', id: INDEX_CURSOR, message })
    }
    const upTo = Math.max(0, Math.min(indexed, head))
    findings.push(...(await this.#check(snapshot, fullBlocks(upTo), upTo)))
    // The block that is not full yet, and rows that no event can have led to.
    findings.push(...(await this.#checkRange(snapshot, Number.MAX_SAFE_INTEGER, upTo)))
    return findings
  }

  async #check(snapshot: Snapshot, end: number, upTo: number): Promise<readonly Finding[]> {
    const findings: Finding[] = []
    while (this.#checked < end && findings.length < MAX_FINDINGS) {
      const next = Math.min(end, this.#checked + MAX_CHECK_EVENTS)
      findings.push(...(await this.#checkRange(snapshot, next, upTo)))
      this.#checked = next
    }
    return findings
  }

  async #checkRange(snapshot: Snapshot, end: number, upTo: number): Promise<readonly Finding[]> {
    const findings: Finding[] = []
    const add = (table: string, id: string, message: string): void =>
      void findings.push({ check: 'projection', position: null, table, id, message })
    const values = [this.#checked, end, upTo]
    for await (const page of snapshot.pages(ACCOUNT_MISMATCHES_SQL, values)) {
      for (const row of page) {
        const message = this.#faultOf(row)
        if (message !== undefined) add('account_index', `${row['account']}:${row['base']}`, message)
      }
    }
    for await (const page of snapshot.pages(TERM_MISMATCHES_SQL, values)) {
      for (const { base, message } of page) add('event_index', String(base), String(message))
    }
    return findings
  }

  /** What is wrong with a row itself; undefined when it only follows from a wrong row before it. */
  #faultOf(row: Readonly<Record<string, string | null>>): string | undefined {
    const account = String(row['account'])
    const previous = wholeUnits(row['previous'] ?? '0')
    const expected = previous - (this.#deviations.get(account) ?? 0n) + BigInt(row['change'] ?? 0)
    const balance = row['balance'] ?? null
    this.#deviations.set(account, (balance === null ? previous : wholeUnits(balance)) - expected)
    if (balance === null) return 'the row is missing from the table'
    if (row['change'] === null) return 'the row does not follow from the ledger'
    if (row['offsets'] !== row['expected_offsets'])
      return `offsets is ${row['offsets']}, expected ${row['expected_offsets']}`
    return balance === String(expected) ? undefined : `balance is ${balance}, expected ${expected}`
  }
}

/** A balance that was tampered with may have a fraction. */
const wholeUnits = (balance: string): bigint => BigInt(balance.replace(/\..*/, ''))

const fullBlocks = (position: number): number => position - (position % BLOCK_EVENTS)

async function readCursor(snapshot: Snapshot): Promise<{ readonly head: number; readonly indexed: number }> {
  for await (const [row] of snapshot.pages(CURSOR_SQL)) {
    if (row !== undefined) return { head: Number(row['head']), indexed: Number(row['indexed']) }
  }
  throw new Error('the ledger has no head')
}
