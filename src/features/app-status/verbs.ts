import { Type } from '@sinclair/typebox'
import type { AppMode, Release as ReleaseRecord } from '../../../schema/app-status.ts'
import { ClientType } from '../../../schema/events.ts'
import { ExpectedVersion, inputSchema, messageOnly, registerVerb } from '../../ledger/executor/command.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { defaultMode, type Mode, setMode } from './mode.ts'
import { defineRelease, type Release, removeRelease } from './release.ts'

const PartialTexts = Type.Optional(Type.Object({ en: Type.Optional(Type.String()), ar: Type.Optional(Type.String()) }))

const SetMode = inputSchema(
  Type.Object({
    maintenance: Type.Optional(Type.Boolean()),
    title: PartialTexts,
    message: PartialTexts,
    block_unidentified: Type.Optional(Type.Union([Type.Null(), ClientType])),
    expected: ExpectedVersion,
  }),
)

const DefineRelease = inputSchema(
  Type.Object({
    client_type: ClientType,
    version: Type.Optional(Type.String()),
    minimum_version: Type.Optional(Type.Union([Type.Null(), Type.String()])),
    store_link: Type.Optional(Type.String()),
    title: PartialTexts,
    message: PartialTexts,
    expected: ExpectedVersion,
  }),
)

const RemoveRelease = inputSchema(Type.Object({ client_type: ClientType, expected: ExpectedVersion }))

/** The verbs of the app's mode and its releases. */
export const appStatusVerbs = {
  setMode: registerVerb('set-mode', SetMode, setMode, { body: (mode) => ({ data: modeRecord(mode) }) }),
  defineRelease: registerVerb('define-release', DefineRelease, defineRelease, {
    body: (release) => ({ data: releaseRecord(release) }),
  }),
  removeRelease: registerVerb(
    'remove-release',
    RemoveRelease,
    removeRelease,
    messageOnly({ en: 'The release was removed.', ar: 'تم حذف الإصدار.' }),
  ),
}

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
