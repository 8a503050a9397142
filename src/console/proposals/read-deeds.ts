import type { Kysely } from 'kysely'
import { isAnyOf } from '../../db/queries/is-any-of.ts'
import type { Tables } from '../../db/tables.ts'
import type { LimitedAmount } from '../../features/proposals/covered-verb.ts'
import { parseProposed } from '../../features/proposals/reads.ts'
import { readHolderNames } from '../accounts/holder-names.ts'
import type { Deed } from './deed.ts'

export interface ProposedDeed extends Deed {
  /** The proposal's. */
  readonly id: number
  readonly amounts: readonly LimitedAmount[]
}

/** What proposals ask for, by id. */
export async function readDeeds(
  db: Kysely<Tables>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ProposedDeed>> {
  if (ids.length === 0) return new Map()
  const found = await db
    .selectFrom('proposals')
    .select(['proposal_id as id', 'action', 'subject', 'amounts'])
    .where(isAnyOf('proposal_id', ids))
    .execute()
  const names = await readHolderNames(
    db,
    found.map(({ subject }) => subject),
  )
  return new Map(found.map((row) => [row.id, { ...row, ...parseProposed(row), name: names.get(row.subject) }]))
}
