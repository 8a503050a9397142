import { type Static, Type } from '@sinclair/typebox'
import { Amount, Bit, Flag, Id, Instant, Name, PathId, Text } from './common.ts'
import { AgencyCountry } from './events.ts'
import { arabicForm, LocalizedName } from './languages.ts'
import { named } from './named.ts'

/** Requests and responses of the operator routes. In a PUT a field that is left out keeps its value. */

export const IdParams = Type.Object({ id: PathId })

export const MemberParams = Type.Object({ id: PathId, user_id: PathId })

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

export const DefineCountry = named('CountryDefinition', Type.Object({ name: Type.Optional(Name) }))

export const CountryRecord = named(
  'CountryRecord',
  Type.Object({ id: Id, name: LocalizedName, created_at: Instant }),
  'A country as operators see it, with its name as it was given',
)
export type CountryRecord = Static<typeof CountryRecord>

export const DefineRoom = named(
  'RoomDefinition',
  Type.Object({
    uid: Type.Optional(
      Type.String({
        pattern: '^[0-9A-Za-z_-]{1,64}$',
        description: '1 to 64 of 0-9 A-Z a-z _ -; not the id of another room',
        ...arabicForm('من 1 إلى 64 حرفًا من 0-9 وA-Z وa-z و_ و-، وألا تكون رقم id لغرفة أخرى'),
      }),
    ),
    name: Type.Optional(Text(100)),
    cover_url: Type.Optional(Text(500)),
    owner_id: Type.Optional(Id),
  }),
)

export const RoomRecord = named(
  'RoomRecord',
  Type.Object({
    id: Id,
    uid: Type.String(),
    name: Type.String(),
    cover_url: Type.String(),
    owner_id: Id,
    trophy_points: Amount,
    created_at: Instant,
  }),
  'A room as operators define it, with its trophy points',
)
export type RoomRecord = Static<typeof RoomRecord>

export const CurrencyName = named(
  'CurrencyName',
  Type.Union(
    [
      Type.Literal('coins'),
      Type.Literal('diamonds'),
      Type.Literal('target'),
      Type.Literal('dollars'),
      Type.Literal('agent_dollars'),
    ],
    {
      description: 'coins, diamonds, target, dollars or agent_dollars',
      ...arabicForm('coins أو diamonds أو target أو dollars أو agent_dollars'),
    },
  ),
)

/** The form of the amount depends on the currency, so that the business rules check it. */
export const MoveBalance = named(
  'BalanceMove',
  Type.Object({
    currency: CurrencyName,
    amount: Type.Union([Type.Number(), Type.String({ maxLength: 32 })], {
      description:
        'an integer from 1 (coins, diamonds, target), or dollars from 0.01: a number, or a string such as 12.50',
      ...arabicForm(
        'عددًا صحيحًا من 1 فأكثر (coins أو diamonds أو target)، أو مبلغًا بالدولار من 0.01 فأكثر: عددًا، أو نصًا مثل 12.50',
      ),
    }),
    reason: Text(500, 1),
  }),
)
export type MoveBalance = Static<typeof MoveBalance>

export const BalanceMoved = named(
  'MovedBalance',
  Type.Object(
    {
      id: Type.Integer({ minimum: 1, description: "the move's position on the ledger" }),
      account: Type.String(),
      currency: CurrencyName,
      amount: Type.Number(),
      balance: Type.Number({ description: 'the account after the move' }),
      reason: Type.String(),
      created_at: Instant,
    },
    { description: 'The move as the ledger has it, with the balance after it' },
  ),
)
