import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Kysely } from 'kysely'
import { LimitedAmounts, ProposalAction } from '../../../schema/proposal-events.ts'
import { isAnyOf } from '../../db/queries/is-any-of.ts'
import type { Tables } from '../../db/tables.ts'
import type { LimitedAmount } from '../../ledger/rules/covered-verb.ts'
import { readHolderNames } from '../accounts/holder-names.ts'
import type { Deed } from './deed.ts'

export interface ProposedDeed extends Deed {
  /** The proposal's. */
  readonly id: number
  readonly amounts: readonly LimitedAmount[]
}

const actions = TypeCompiler.Compile(ProposalAction)
const limitedAmounts = TypeCompiler.Compile(LimitedAmounts)

/** Action and amounts of a row of the table. */
export function parseDeed(row: { readonly id: number; readonly action: string; readonly amounts: string }): {
  readonly action: ProposalAction
  readonly amounts: readonly LimitedAmount[]
} {
  const { id, action } = row
  const amounts: unknown = JSON.parse(row.amounts)
  if (!actions.Check(action)) throw new Error(`proposal ${id} has the action ${action}`)
  if (!limitedAmounts.Check(amounts)) throw new Error(`proposal ${id} has the amounts ${row.amounts}`)
  return { action, amounts }
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
  return new Map(found.map((row) => [row.id, { ...row, ...parseDeed(row), name: names.get(row.subject) }]))
}
