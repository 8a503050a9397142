import { Type } from '@sinclair/typebox'
import { bit, Id } from '../../../schema/common.ts'
import { AgencyCountry } from '../../../schema/events.ts'
import { Language, LocalizedName } from '../../../schema/languages.ts'
import {
  type CountryRecord,
  type Device,
  MAX_AGENCY_COUNTRIES,
  MAX_USERS_PER_REQUEST,
  Platform,
  type RevokedSessions,
  type UserRecord,
} from '../../../schema/users.ts'
import { rowsThatFit } from '../../http/pages.ts'
import { givenName } from '../../language/names.ts'
import { ExpectedVersion, inputSchema, messageOnly, registerVerb } from '../../ledger/executor/command.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { assetUrl } from '../asset-url.ts'
import type { Settings } from '../services.ts'
import { type Country, defineCountry } from './country.ts'
import { type DefinedUser, defineUsers } from './define-user.ts'
import { registerDevice, removeDevice, type UserDevice } from './device.ts'
import { revokeSessions, type User, type UserProfile } from './user.ts'

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
  removeDevice: registerVerb(
    'remove-device',
    RemoveDevice,
    removeDevice,
    messageOnly({ en: 'The device was removed.', ar: 'تمت إزالة الجهاز.' }),
  ),
})

export type UserVerbs = ReturnType<typeof userVerbs>

/** A user as operators see it; the address of the avatar begins with `assetBaseUrl`. */
export const userRecord = (
  user: Omit<User, 'sessions_revoked_before'>,
  profile: Pick<UserProfile, 'uid' | 'name' | 'avatar' | 'created_at'>,
  assetBaseUrl: string,
): UserRecord => ({
  id: user.user_id,
  uid: profile.uid,
  name: profile.name,
  avatar: profile.avatar,
  avatar_url: assetUrl(profile.avatar, assetBaseUrl),
  charging_agent: bit(user.charging_agent),
  allow_receive_withdraw_requests: bit(user.allow_receive_withdraw_requests),
  business_manager: bit(user.business_manager),
  agency_countries: [...user.agency_countries],
  created_at: isoMicros(profile.created_at),
})

/** A country as operators see it. */
export const countryRecord = (
  country: Pick<Country, 'country_id' | 'name' | 'name_ar' | 'created_at'>,
): CountryRecord => ({
  id: country.country_id,
  name: givenName(country),
  created_at: isoMicros(country.created_at),
})

export const revokedSessions = (user: Pick<User, 'user_id' | 'sessions_revoked_before'>): RevokedSessions => ({
  id: user.user_id,
  sessions_revoked_before: isoMicros(user.sessions_revoked_before * 1_000_000),
})

/** Without its token: the answer may be stored. */
const deviceRecord = ({
  platform,
  language,
  registered_at,
}: Pick<UserDevice, 'platform' | 'language' | 'registered_at'>): Device => ({
  platform,
  language,
  created_at: isoMicros(registered_at),
})

export const userRecords = (users: readonly DefinedUser[], assetBaseUrl: string): UserRecord[] =>
  users.map(({ user, profile }) => userRecord(user, profile, assetBaseUrl))
