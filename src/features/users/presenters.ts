import { bit } from '../../../schema/common.ts'
import type { Device } from '../../../schema/devices.ts'
import type { CountryRecord, RevokedSessions, UserRecord } from '../../../schema/operator.ts'
import { givenName } from '../../language/names.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { assetUrl } from '../asset-url.ts'
import type { Country } from './countries/country.ts'
import type { DefinedUser } from './define-user.ts'
import type { UserDevice } from './devices/device.ts'
import type { User, UserProfile } from './user.ts'

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
export const deviceRecord = ({
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
