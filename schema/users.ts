import { type Static, Type } from '@sinclair/typebox'
import { Bit, Flag, Id, Instant, Name, PathId, SearchWord, Text } from './common.ts'
import { AgencyCountry } from './events.ts'
import { arabicForm, Language, LocalizedName } from './languages.ts'
import { named } from './named.ts'

export const UserSearch = Type.Object({ search: SearchWord })

export const UserParams = Type.Object({ id: { ...PathId, description: 'id of the user' } })

export const Country = named(
  'Country',
  Type.Object({ id: Id, name: Type.String() }),
  'A country in which dollars can be withdrawn',
)
export type Country = Static<typeof Country>

/** Push tokens address a user's device: events, responses and logs must not contain them. */
const DeviceToken = Type.String({
  pattern: '^[\\x21-\\x7e]{1,2048}$',
  description: '1 to 2,048 printable ASCII characters without blanks',
  ...arabicForm('من 1 إلى 2,048 حرفًا من حروف ASCII القابلة للطباعة دون فراغات'),
})

export const Platform = Type.Union([Type.Literal('android'), Type.Literal('ios')], {
  description: 'android or ios',
  ...arabicForm('android أو ios'),
})
export type Platform = Static<typeof Platform>

export const RegisterDevice = named(
  'DeviceRegistration',
  Type.Object({
    token: DeviceToken,
    platform: Platform,
    language: Type.Optional({ ...Language, description: 'of its push notifications; en when left out' }),
  }),
)
export const DeviceParams = Type.Object({ token: DeviceToken })

/** A registered device; its token is not repeated. */
export const Device = named(
  'Device',
  Type.Object({ platform: Platform, language: Language, created_at: Instant }),
  'A device that push notifications go to; its token is not repeated',
)
export type Device = Static<typeof Device>

export const DeviceRemoved = Type.Object({ meta: Type.Object({ message: Type.String() }) })

/** Requests and responses of staff's routes. In a PUT a field that is left out keeps its value. */

/** Countries that one charging agent serves; few, because the list of agents is sent whole. */
export const MAX_AGENCY_COUNTRIES = 50

const userFields = {
  uid: Type.Optional(Text(64, 1)),
  name: Type.Optional(Text(100)),
  avatar: Type.Optional({ ...Text(500), description: 'a storage path' }),
  charging_agent: Type.Optional(Flag),
  allow_receive_withdraw_requests: Type.Optional(Flag),
  business_manager: Type.Optional(Flag),
  agency_countries: Type.Optional(
    Type.Array(
      Type.Object({
        country_id: Id,
        diamonds_per_dollar: Type.Optional({ ...Id, description: '10,000 when it is left out' }),
      }),
      { maxItems: MAX_AGENCY_COUNTRIES },
    ),
  ),
}

export const DefineUser = named('UserDefinition', Type.Object(userFields))
export type DefineUser = Static<typeof DefineUser>

/** Users in one request. */
export const MAX_USERS_PER_REQUEST = 1_000

export const DefineUsers = named(
  'UserDefinitions',
  Type.Object({
    users: Type.Array(Type.Object({ id: Id, ...userFields }), { minItems: 1, maxItems: MAX_USERS_PER_REQUEST }),
  }),
)

export const UserRecord = named(
  'User',
  Type.Object({
    id: Id,
    uid: Type.String(),
    name: Type.String(),
    avatar: Type.String(),
    avatar_url: Type.String(),
    charging_agent: Bit,
    allow_receive_withdraw_requests: Bit,
    business_manager: Bit,
    agency_countries: Type.Array(AgencyCountry),
    created_at: Instant,
  }),
  'A user as operators see them, with flags and the countries served',
)
export type UserRecord = Static<typeof UserRecord>

export const RevokedSessions = named(
  'RevokedSessions',
  Type.Object(
    {
      id: Id,
      /** Tokens issued before are no longer valid. */
      sessions_revoked_before: Instant,
    },
    { description: 'The user, whose tokens from before sessions_revoked_before are refused' },
  ),
)
export type RevokedSessions = Static<typeof RevokedSessions>

export const DefineCountry = named('CountryDefinition', Type.Object({ name: Type.Optional(Name) }))

export const CountryRecord = named(
  'CountryRecord',
  Type.Object({ id: Id, name: LocalizedName, created_at: Instant }),
  'A country as operators see it, with its name as it was given',
)
export type CountryRecord = Static<typeof CountryRecord>

/** A member of staff as tokens name them, in any case; what can name nobody is answered with 404. */
export const StaffParams = Type.Object({
  sub: Type.String({ description: 'a name of 1 to 100 characters, in any case' }),
})

export const RevokedStaffSessions = named(
  'RevokedStaffSessions',
  Type.Object({
    sub: Type.String(),
    /** Tokens issued before are no longer valid. */
    sessions_revoked_before: Instant,
  }),
  'The member of staff, whose tokens from before sessions_revoked_before are refused',
)
export type RevokedStaffSessions = Static<typeof RevokedStaffSessions>
