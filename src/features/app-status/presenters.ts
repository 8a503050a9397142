import type { AppMode, Release as ReleaseRecord } from '../../../schema/app-status.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { defaultMode, type Mode } from './mode.ts'
import type { Release } from './releases/release.ts'

/** The mode as operators see it; the default until one was set. */
export const modeRecord = (mode: Mode | undefined): AppMode => {
  const { maintenance, title, message, block_unidentified } = mode ?? defaultMode
  const updated_at = mode === undefined ? null : isoMicros(mode.updated_at)
  return { maintenance, title, message, block_unidentified, updated_at }
}

export const releaseRecord = (release: Release): ReleaseRecord => ({
  client_type: release.client_type,
  version: release.version,
  minimum_version: release.minimum_version,
  store_link: release.store_link,
  title: release.title,
  message: release.message,
  created_at: isoMicros(release.created_at),
  updated_at: isoMicros(release.updated_at),
})
