import { Type } from '@sinclair/typebox'
import { ClientType } from '../../../schema/events.ts'
import { ExpectedVersion, inputSchema, messageOnly, registerVerb } from '../../ledger/executor/command.ts'
import { appStatusMessages } from './messages.ts'
import { modeRecord, releaseRecord } from './presenters.ts'
import { defineRelease } from './releases/define-release.ts'
import { removeRelease } from './releases/remove-release.ts'
import { setMode } from './set-mode.ts'

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
    messageOnly(appStatusMessages.release_removed),
  ),
}
