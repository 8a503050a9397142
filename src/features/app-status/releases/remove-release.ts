import type { ClientType } from '../../../../schema/events.ts'
import { keyOf } from '../../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { releases } from './release.ts'

export interface RemoveRelease {
  readonly client_type: ClientType
}

const refusals = ['not_found'] as const

/** Clients of this type are no longer asked to update. Refusal: `not_found`. */
export const removeRelease: Verb<RemoveRelease, null, typeof refusals> = {
  refusals,
  reads: ({ client_type }) => [keyOf(releases, client_type)],

  decide: (state, { client_type }) =>
    state.get(releases, client_type) === undefined
      ? refuse('not_found')
      : [{ type: 'release-removed', data: { client_type }, movements: [] }],

  result: () => null,
}
