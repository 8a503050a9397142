import type { ClientType } from '../../../../schema/events.ts'
import type { LocalizedText } from '../../../../schema/languages.ts'
import type { Evolver } from '../../../ledger/rules/event.ts'
import { integer, json, micros, nullable, projection, type RowOf, text } from '../../../ledger/rules/projection.ts'
import { versionOfValues } from '../../../ledger/rules/stored-values.ts'

/** The release that clients of a type are asked to update to. */
export const releases = projection('app_releases', {
  client_type: text<ClientType>(),
  version: text(),
  /** Clients below this version are refused; null refuses none. */
  minimum_version: nullable(text()),
  store_link: text(),
  title: json<LocalizedText>(),
  message: json<LocalizedText>(),
  created_at: micros(),
  updated_at: micros(),
  /** The position of the event that created it. */
  created: integer(),
})

export type Release = RowOf<typeof releases>

/** The version of what defining a release sets. */
export const releaseVersion = ({ version, minimum_version, store_link, title, message }: Release): string =>
  versionOfValues({ version, minimum_version, store_link, title, message })

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
