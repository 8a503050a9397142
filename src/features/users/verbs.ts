import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { Platform } from '../../../schema/devices.ts'
import { AgencyCountry } from '../../../schema/events.ts'
import { Language, LocalizedName } from '../../../schema/languages.ts'
import { MAX_AGENCY_COUNTRIES, MAX_USERS_PER_REQUEST } from '../../../schema/operator.ts'
import { rowsThatFit } from '../../http/pages.ts'
import { ExpectedVersion, inputSchema, messageOnly, registerVerb } from '../../ledger/executor/command.ts'
import type { Settings } from '../services.ts'
import { defineCountry } from './countries/define-country.ts'
import { defineUsers } from './define-user.ts'
import { registerDevice } from './devices/register-device.ts'
import { removeDevice } from './devices/remove-device.ts'
import { userMessages } from './messages.ts'
import { countryRecord, deviceRecord, revokedSessions, userRecords } from './presenters.ts'
import { revokeSessions } from './revoke-sessions.ts'

const UserFields = Type.Object({
  id: Id,
  uid: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
  avatar: Type.Optional(Type.String()),
  charging_agent: Type.Optional(Type.Boolean()),
  allow_receive_withdraw_requests: Type.Optional(Type.Boolean()),
  business_manager: Type.Optional(Type.Boolean()),
  agency_countries: Type.Optional(Type.Array(AgencyCountry, { maxItems: MAX_AGENCY_COUNTRIES })),
  expected: ExpectedVersion,
})

const DefineUsers = inputSchema(
  Type.Object({
    users: Type.Array(UserFields, { minItems: 1, maxItems: MAX_USERS_PER_REQUEST }),
    listed: Type.Boolean(),
  }),
)
const RevokeSessions = inputSchema(Type.Object({ user_id: Id }))
const DefineCountry = inputSchema(
  Type.Object({ id: Id, name: Type.Optional(LocalizedName), expected: ExpectedVersion }),
)
const RegisterDevice = inputSchema(
  Type.Object({ user_id: Id, token: Type.String(), platform: Platform, language: Language }),
)
const RemoveDevice = inputSchema(Type.Object({ user_id: Id, token: Type.String() }))

/** JSON of the users in one response; 1,000 users with the longest texts would exceed it. */
const MAX_RESPONSE_BYTES = 1_000_000

/** The verbs of users, countries and devices. */
export const userVerbs = (settings: Settings) => ({
  defineUsers: registerVerb('define-users', DefineUsers, defineUsers, {
    body: (users) => ({ data: rowsThatFit(userRecords(users, settings.assetBaseUrl), MAX_RESPONSE_BYTES) }),
  }),
  defineUser: registerVerb('define-user', DefineUsers, defineUsers, {
    body: (users) => ({ data: userRecords(users, settings.assetBaseUrl)[0] }),
  }),
  revokeSessions: registerVerb('revoke-sessions', RevokeSessions, revokeSessions, {
    body: (user) => ({ data: revokedSessions(user) }),
  }),
  defineCountry: registerVerb('define-country', DefineCountry, defineCountry, {
    body: (country) => ({ data: countryRecord(country) }),
  }),
  registerDevice: registerVerb('register-device', RegisterDevice, registerDevice, {
    status: 201,
    body: (device) => ({ data: deviceRecord(device) }),
  }),
  removeDevice: registerVerb('remove-device', RemoveDevice, removeDevice, messageOnly(userMessages.device_removed)),
})

export type UserVerbs = ReturnType<typeof userVerbs>
