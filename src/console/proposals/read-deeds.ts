import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Kysely } from 'kysely'
import { ProposalAction } from '../../../schema/proposal-events.ts'
import { isAnyOf } from '../../db/queries/is-any-of.ts'
import type { Tables } from '../../db/tables.ts'
import { readHolderNames } from '../accounts/holder-names.ts'
import type { Deed } from './deed.ts'

export interface ProposedDeed extends Deed {
  /** The proposal's. */
  readonly id: number
  /** In the smallest unit; null, like the currency, where several are named. */
  readonly amount: number | null
  readonly currency: string | null
}

const actions = TypeCompiler.Compile(ProposalAction)

/** What proposals ask for, by id. */
export async function readDeeds(
  db: Kysely<Tables>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, ProposedDeed>> {
  if (ids.length === 0) return new Map()
  const found = await db
    .selectFrom('proposals')
    .select(['proposal_id as id', 'action', 'subject', 'amount', 'currency'])
    .where(isAnyOf('proposal_id', ids))
    .execute()
  const names = await readHolderNames(
    db,
    found.map(({ subject }) => subject),
  )
  const deeds = new Map<number, ProposedDeed>()
  for (const { action, ...proposal } of found) {
    if (!actions.Check(action)) throw new Error(`proposal ${proposal.id} has the action ${action}`)
    deeds.set(proposal.id, { ...proposal, action, name: names.get(proposal.subject) })
  }
  return deeds
}
