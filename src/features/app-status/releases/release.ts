import type { ClientType, InBoth } from '../../../../schema/events.ts'
import type { Evolver } from '../../../ledger/rules/evolve.ts'
import { projection } from '../../../ledger/rules/projection.ts'
import type { Micros } from '../../../ledger/rules/time.ts'

/** The release that clients of a type are asked to update to. */
export interface Release {
  readonly client_type: ClientType
  readonly version: string
  /** Clients below this version are refused; null refuses none. */
  readonly minimum_version: string | null
  readonly store_link: string
  readonly title: InBoth
  readonly message: InBoth
  readonly created_at: Micros
  readonly updated_at: Micros
  /** The position of the event that created it. */
  readonly created: number
}

export const releases = projection<Release>('app_releases')

export const evolveReleases: Evolver = {
  'release-defined': (state, { data, at, position }) => {
    const before = state.get(releases, data.client_type)
    state.set(releases, data.client_type, {
      ...data,
      created_at: before?.created_at ?? at,
      updated_at: at,
      created: before?.created ?? position,
    })
  },
  'release-removed': (state, { data }) => state.set(releases, data.client_type, undefined),
}
