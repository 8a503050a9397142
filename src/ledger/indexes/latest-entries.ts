import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { type AccountEntry, isAt, isFoundBetween, selectEntries } from './account-entries.ts'
import { eventsWith, IndexLagExceeded, indexedSql, MAX_UNINDEXED_EVENTS, readSums } from './index-reads.ts'
import { accountTerm } from './index-terms.ts'

export interface LatestQuery {
  readonly accounts: readonly string[]
  /** The accounts whose movements are numbered together: `accounts` and others of the same holder. */
  readonly numbered: readonly string[]
  /** Only movements before this one; null for the newest. */
  readonly before: Place | null
  readonly limit: number
}

/** Where a movement stands: `number` counts those of its event, from 0. */
export interface Place {
  readonly position: number
  readonly number: number
}

export interface NumberedEntry extends AccountEntry, Place {
  /** The balance of the account after it. */
  readonly balance: bigint
}

export interface LatestEntries {
  /** Newest first. */
  readonly entries: readonly NumberedEntry[]
  /** How far the index is; where that is too far behind for all the rest to be searched, what the entries end with. */
  readonly indexed: number
  /** Whether newer ones that were asked for are left out, as the index is too far behind. */
  readonly isCut: boolean
}

interface Ends {
  readonly indexed: number
  readonly head: number
  /** Those of the accounts that ever moved. */
  readonly accounts: readonly string[]
}

/**
 * The last movements of some accounts, each with the balance after it: from the index, and from the ledger what came
 * after it, as far as `MAX_UNINDEXED_EVENTS` reach. By their number, not by the time that it takes: the page after this
 * one must reach as far, and by then the index has only moved on.
 */
export async function readLatestEntries(db: Kysely<Tables>, query: LatestQuery): Promise<LatestEntries> {
  const { numbered, before, limit } = query
  const { indexed, head, accounts } = await readEnds(db, query.accounts)
  const wanted = Math.min(head, before?.position ?? head)
  const end = Math.min(wanted, indexed + MAX_UNINDEXED_EVENTS)
  const positions: number[] = []
  // Without those of the event that the page before has ended in, of which some may be left.
  const isEnough = (): boolean => positions.length > 0 && new Set(positions).size > limit
  if (accounts.length > 0) {
    for await (const { events } of eventsWith(db, accounts.map(accountTerm), { first: 1, last: end }, 'newest')) {
      for (const { position } of events) {
        if (isEnough() && position !== positions.at(-1)) break
        positions.push(position)
      }
      if (isEnough()) break
    }
  }
  const found = number(
    await selectEntries(
      db,
      numbered,
      end > indexed ? sql`(${isAt(positions)} or ${isFoundBetween(accounts, indexed, end)})` : isAt(positions),
    ),
  )
  const known = Math.min(indexed, end)
  const sums = await readSums(db, accounts, [known])
  const entries = accounts.flatMap((account) =>
    withBalances(
      found.filter((entry) => entry.account === account),
      sums(account, known).balance,
      known,
    ),
  )
  return {
    entries: entries
      .filter((entry) => before === null || compare(entry, before) < 0)
      .toSorted((a, b) => compare(b, a))
      .slice(0, limit),
    indexed: end < wanted ? end : indexed,
    isCut: end < wanted,
  }
}

/** As `readLatestEntries`. Throws `IndexLagExceeded` instead of leaving newer ones out. */
export async function readAllLatestEntries(db: Kysely<Tables>, query: LatestQuery): Promise<readonly NumberedEntry[]> {
  const { entries, indexed, isCut } = await readLatestEntries(db, query)
  if (isCut) throw new IndexLagExceeded(`the last movements of ${query.accounts.join()} can be read up to ${indexed}`)
  return entries
}

async function readEnds(db: Kysely<Tables>, accounts: readonly string[]): Promise<Ends> {
  const { rows } = await sql<Ends>`
    select ${indexedSql} as indexed, position as head,
           array(select account from balances where account = any (${[...accounts]}::text[])) as accounts
    from ledger_head`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the ledger has no head')
  return row
}

/** Numbers the movements of each event. */
function number(entries: readonly AccountEntry[]): readonly (AccountEntry & Place)[] {
  let last: Place = { position: 0, number: 0 }
  return entries.map((entry) => {
    last = { position: entry.position, number: entry.position === last.position ? last.number + 1 : 0 }
    return { ...entry, number: last.number }
  })
}

/** An account's movements with the balance after each; `sum` is its balance as of the position `known`. */
function withBalances(
  entries: readonly (AccountEntry & Place)[],
  sum: bigint,
  known: number,
): readonly NumberedEntry[] {
  const result: NumberedEntry[] = []
  let balance = sum
  for (const entry of entries.toReversed()) {
    if (entry.position > known) continue
    result.push({ ...entry, balance })
    balance -= BigInt(entry.amount)
  }
  balance = sum
  for (const entry of entries) {
    if (entry.position > known) result.push({ ...entry, balance: (balance += BigInt(entry.amount)) })
  }
  return result
}

const compare = (a: Place, b: Place): number => a.position - b.position || a.number - b.number
