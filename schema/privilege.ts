import { type Static, Type } from '@sinclair/typebox'
import { Id, Instant, Name, PathId, PicturePath, Seconds, Text } from './common.ts'
import { LocalizedName } from './languages.ts'
import { named } from './named.ts'

const Days = Type.Integer({ minimum: 1, maximum: 36_500 })
const Rank = Type.Integer({ minimum: -1_000_000_000, maximum: 1_000_000_000, description: 'higher is better' })

/** A stored card, as its owner sees it. */
export const WalletCard = named(
  'WalletCard',
  Type.Object({
    id: Type.Integer({ minimum: 1, description: 'of the card, not of its package' }),
    privilege_package_id: Id,
    privilege_package_name: Type.String(),
    icon_path: Type.String(),
    icon_url: Type.String(),
    valid_days: Type.Integer({ minimum: 1, description: 'Days that the card adds when it is activated' }),
    created_at: { ...Instant, description: 'When the card entered the wallet: ISO 8601, UTC, microseconds' },
  }),
  'A stored card, which its owner can activate or send to another user',
)
export type WalletCard = Static<typeof WalletCard>

export const CardParams = Type.Object({ wallet_card_id: PathId })

const Meta = Type.Object({ message: Type.String() })

export const Activated = Type.Object({
  data: Type.Object(
    {
      days_added: Type.Integer({ minimum: 1, description: 'Days actually added' }),
      valid_until: Seconds,
    },
    { description: 'The days that the card added, and until when the privilege is active now' },
  ),
  meta: Meta,
})

export const TransferCard = named('CardTransfer', Type.Object({ receiver_id: Id }))

export const Transferred = Type.Object({ meta: Meta })

/** The privilege that is active now; null when there is none. */
export const ActivePrivilege = Type.Union([
  Type.Null(),
  named(
    'ActivePrivilege',
    Type.Object({ privilege_package_id: Id, name: Type.String(), rank: Type.Integer(), valid_until: Seconds }),
  ),
])

export const DefinePackage = named(
  'PrivilegePackageDefinition',
  Type.Object({
    name: Type.Optional(Name),
    rank: Type.Optional(Rank),
    valid_days: Type.Optional(Days),
    icon_path: Type.Optional({ ...PicturePath, description: 'a storage path' }),
  }),
)

/** A package as clients see it. */
export const PackageResource = named(
  'PrivilegePackage',
  Type.Object({
    id: Id,
    name: Type.String(),
    rank: Type.Integer({ description: 'higher is better' }),
    valid_days: Type.Integer({ minimum: 1, description: 'Days that a new card of it adds' }),
    icon_path: Type.String(),
    icon_url: Type.String({ description: "the icon's address; empty without one" }),
  }),
  'A kind of privilege: its rank, and the days that a new card of it adds',
)
export type PackageResource = Static<typeof PackageResource>

/** A package as operators see it. */
export const PackageRecord = named(
  'PrivilegePackageRecord',
  Type.Object({ ...PackageResource.properties, name: LocalizedName, created_at: Instant }),
  'A privilege package as operators see it, with its name as it was given',
)
export type PackageRecord = Static<typeof PackageRecord>

/** Cards of one grant. */
const MAX_CARDS_PER_GRANT = 1_000

export const GrantCards = named(
  'CardGrant',
  Type.Object({
    privilege_package_id: Id,
    quantity: Type.Integer({ minimum: 1, maximum: MAX_CARDS_PER_GRANT }),
    reason: Text(500, 1),
  }),
)
