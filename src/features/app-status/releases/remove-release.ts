import type { ClientType } from '../../../../schema/events.ts'
import { keyOf } from '../../../ledger/rules/projection.ts'
import { type ExpectedVersion, isExpected } from '../../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { releases, releaseVersion } from './release.ts'

export interface RemoveRelease {
  readonly client_type: ClientType
  readonly expected?: ExpectedVersion | undefined
}

const refusals = ['precondition_failed', 'not_found'] as const

/**
 * Clients of this type are no longer asked to update. Refusals: `precondition_failed` (another version of it is stored, or
 * none), `not_found`.
 */
export const removeRelease: Verb<RemoveRelease, null, typeof refusals> = {
  refusals,
  reads: ({ client_type }) => [keyOf(releases, client_type)],

  decide: (state, { client_type, expected }) => {
    const before = state.get(releases, client_type)
    if (!isExpected(expected, before, releaseVersion)) return refuse('precondition_failed')
    if (before === undefined) return refuse('not_found')
    return [{ type: 'release-removed', data: { client_type }, movements: [] }]
  },

  result: () => null,
}
