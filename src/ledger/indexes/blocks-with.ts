import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { BLOCK_EVENTS, baseOf, type TermKind } from './index-rows.ts'

/** What an event is looked for by. */
export interface Term {
  readonly kind: TermKind
  readonly value: string
}

/** Blocks that one statement may return: few at first, as one may be enough. */
const MAX_BLOCKS = 40

export interface FoundBlocks {
  readonly bases: readonly number[]
  /** No block up to this position is missing. */
  readonly upTo: number
}

/**
 * The full blocks, from the one of a position on, in which there may be events with all of these terms. Ends where the
 * index ends; what comes after its last `upTo` has to be searched without it.
 */
export async function* blocksWith(
  db: Kysely<Tables>,
  terms: readonly Term[],
  from: number,
): AsyncGenerator<FoundBlocks, void> {
  for (let base = baseOf(from), limit = 1; ; limit = Math.min(4 * limit, MAX_BLOCKS)) {
    const { rows } = await sql<{ end: number; bases: readonly number[] }>`
      select coalesce((select max(base) + ${BLOCK_EVENTS} from event_index), 0) as end, array(
        select base from event_blocks(${hashesOf(terms)}, ${base}, ${Number.MAX_SAFE_INTEGER}) as base
        order by base limit ${limit}
      ) as bases`.execute(db)
    const [{ end, bases } = { end: 0, bases: [] }] = rows
    const last = bases.at(-1)
    const isLast = last === undefined || bases.length < limit
    yield { bases, upTo: isLast ? end : last + BLOCK_EVENTS }
    if (isLast) return
    base = last + BLOCK_EVENTS
  }
}

/**
 * As `blocksWith`, backwards: the newest of the blocks between the one of a position and the one of another, at most
 * `limit`.
 */
export async function newestBlocksWith(
  db: Kysely<Tables>,
  terms: readonly Term[],
  first: number,
  last: number,
  limit: number,
): Promise<readonly number[]> {
  const { rows } = await sql<{ base: number }>`
    select base from event_blocks(${hashesOf(terms)}, ${baseOf(first)}, ${baseOf(last)}) as base
    order by base desc limit ${limit}`.execute(db)
  return rows.map(({ base }) => base)
}

/** The last position that `event_index` covers. */
export async function readSearchable(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ end: number }>`
    select coalesce(max(base) + ${BLOCK_EVENTS}, 0) as end from event_index`.execute(db)
  return rows[0]?.end ?? 0
}

const hashesOf = (terms: readonly Term[]): RawBuilder<readonly number[]> =>
  sql<readonly number[]>`array[${sql.join(terms.map(hashOf))}]`

const hashOf = ({ kind, value }: Term): RawBuilder<number> => sql<number>`hashtext(${`${kind} ${value}`})`

/** Whether an event is in one of these blocks. */
export const isInBlocks = (bases: readonly number[]): RawBuilder<boolean> =>
  sql<boolean>`e.position = any (array(
    select base + place from unnest(${[...bases]}::bigint[]) as base, generate_series(1, ${BLOCK_EVENTS}) as place
  ))`
