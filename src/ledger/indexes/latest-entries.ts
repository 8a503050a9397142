import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import {
  type AccountEntry,
  IndexLagExceeded,
  indexedSql,
  isAt,
  isFoundBetween,
  MAX_UNINDEXED_EVENTS,
  selectEntries,
} from './index-reads.ts'
import { BLOCK_EVENTS, baseOf } from './index-rows.ts'

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

interface Block {
  readonly account: string
  readonly base: number
  readonly offsets: readonly number[]
  /** After the last of its movements. */
  readonly balance: string
}

interface IndexRow {
  readonly indexed: number
  readonly head: number
  readonly blocks: readonly Block[]
}

/**
 * The last movements of some accounts, each with the balance after it: from the index, and from the ledger what came
 * after it, as far as `MAX_UNINDEXED_EVENTS` reach. By their number, not by the time that it takes: the page after this
 * one must reach as far, and by then the index has only moved on.
 */
export async function readLatestEntries(db: Kysely<Tables>, query: LatestQuery): Promise<LatestEntries> {
  const { accounts, numbered, before, limit } = query
  const { indexed, head, blocks } = await readBlocks(db, query)
  const wanted = Math.min(head, before?.position ?? head)
  const end = Math.min(wanted, indexed + MAX_UNINDEXED_EVENTS)
  const byAccount = Map.groupBy(blocks, ({ account }) => account)
  const positions = [...byAccount.values()].flatMap((own) => latestPositions(own, end, limit))
  const found = number(
    end > indexed
      ? await selectEntries(db, numbered, sql`(${isAt(positions)} or ${isFoundBetween(accounts, indexed, end)})`)
      : await selectEntries(db, numbered, isAt(positions)),
  )
  const entries = accounts.flatMap((account) => {
    const own = found.filter((entry) => entry.account === account)
    return withBalances(own, byAccount.get(account) ?? [], indexed)
  })
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

/** Blocks newest first, enough for the page; cursor and head of the same moment. */
async function readBlocks(db: Kysely<Tables>, { accounts, before, limit }: LatestQuery): Promise<IndexRow> {
  const end = before?.position ?? Number.MAX_SAFE_INTEGER
  const { rows } = await sql<IndexRow>`
    select ${indexedSql} as indexed, position as head, (
      select coalesce(json_agg(json_build_object('account', i.account, 'base', i.base, 'offsets', i.offsets, 'balance', i.balance::text)
                               order by i.base desc), '[]')
      from unnest(${[...accounts]}::text[]) as a (account)
      cross join lateral (
        select *, sum(case when base < ${end - BLOCK_EVENTS} then cardinality(offsets) else 0 end)
                    over (order by base desc rows between unbounded preceding and 1 preceding) as newer
        from (
          select account, base, offsets, balance from account_index
          where account = a.account and base < ${end}
          order by base desc limit ${limit + 1}
        ) candidates
      ) i
      where coalesce(i.newer, 0) < ${limit}
    ) as blocks
    from ledger_head`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('the ledger has no head')
  return row
}

/** The positions of an account's newest blocks down to the last one of the page. */
function latestPositions(blocks: readonly Block[], end: number, limit: number): readonly number[] {
  const positions: number[] = []
  let count = 0
  for (const { base, offsets } of blocks) {
    for (const offset of offsets.toReversed()) {
      if (count >= limit && positions.at(-1) !== base + offset) return positions
      positions.push(base + offset)
      // Positions after the page are needed too: the balance of the block is after them.
      if (base + offset < end) count += 1
    }
  }
  return positions
}

/** Numbers the movements of each event. */
function number(entries: readonly AccountEntry[]): readonly (AccountEntry & Place)[] {
  let last: Place = { position: 0, number: 0 }
  return entries.map((entry) => {
    last = { position: entry.position, number: entry.position === last.position ? last.number + 1 : 0 }
    return { ...entry, number: last.number }
  })
}

/** An account's movements in order, with the balance after each. */
function withBalances(
  entries: readonly (AccountEntry & Place)[],
  blocks: readonly Block[],
  indexed: number,
): readonly NumberedEntry[] {
  const balanceOf = new Map(blocks.map(({ base, balance }) => [base, BigInt(balance)]))
  const older = entries.filter(({ position }) => position <= indexed)
  const result: NumberedEntry[] = []
  let base: number | undefined
  let balance = 0n
  for (const entry of older.toReversed()) {
    if (baseOf(entry.position) !== base) balance = balanceOf.get((base = baseOf(entry.position))) ?? 0n
    result.push({ ...entry, balance })
    balance -= BigInt(entry.amount)
  }
  balance = BigInt(blocks[0]?.balance ?? 0)
  for (const entry of entries) {
    if (entry.position > indexed) result.push({ ...entry, balance: (balance += BigInt(entry.amount)) })
  }
  return result
}

const compare = (a: Place, b: Place): number => a.position - b.position || a.number - b.number
