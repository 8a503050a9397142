import { type Static, Type } from '@sinclair/typebox'
import { Amount, Bit, dataOf, Flag, Id, Instant, Name, PicturePath, Text } from './common.ts'
import { GiftKind } from './events.ts'
import { LocalizedName } from './languages.ts'
import { named } from './named.ts'

const Quantity = Type.Integer({ minimum: 1, maximum: 9_999, description: 'Gifts for each receiver' })
const RoomRef = Type.Union([Id, Text(64, 1)], {
  title: 'an id or a uid (1 to 64 characters)',
  description: 'of the room',
})

export const InstantSend = named(
  'GiftRequest',
  Type.Object({
    u_id: Id,
    decoration_id: Id,
    user_id: Type.Array(Id, { minItems: 1, maxItems: 100, uniqueItems: true, description: 'Ids of the receivers' }),
    quantity: Quantity,
    room_id: RoomRef,
    is_bag: Type.Optional(Flag),
    with_encryption: Type.Optional(Flag),
  }),
)
export type InstantSend = Static<typeof InstantSend>

export const SendDecoration = named('SingleGiftRequest', Type.Omit(InstantSend, ['u_id', 'user_id']))
export type SendDecoration = Static<typeof SendDecoration>

export const SendResult = dataOf(
  named(
    'GiftResult',
    Type.Object(
      {
        diamonds: Amount,
        lucky_result: Type.Object({
          code: Type.Union([Type.Literal(0), Type.Literal(1)], { description: '0: orders were drawn; 1: no draw' }),
          data: Type.Object({
            gift_id: Id,
            gift_price: Amount,
            OrderList: Type.Array(
              named(
                'GiftOrder',
                Type.Object({
                  order_id: Type.String(),
                  is_win: Bit,
                  reward_num: Amount,
                }),
              ),
            ),
          }),
        }),
      },
      { description: 'The diamonds that the sender has now, and an order for each receiver' },
    ),
  ),
)

/** As published: the multiplier is a decimal number of times the stake. */
export const PublishedOdds = named(
  'Odds',
  Type.Array(
    Type.Object({
      multiplier: Type.Number({ minimum: 0, maximum: 10_000, description: 'Times the stake; at most 4 decimals' }),
      weight: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
    }),
    { maxItems: 1_000 },
  ),
)

const ImageUrl = Type.String({ description: "the picture's address; empty without one" })

export const Decoration = named(
  'Gift',
  Type.Object({
    id: Id,
    name: Type.String(),
    kind: GiftKind,
    price: Type.Integer({ minimum: 1, description: 'Diamonds' }),
    image_path: Type.String(),
    image_url: ImageUrl,
    video_path: Type.Union([Type.String(), Type.Null()], { description: 'a storage path; null without a video' }),
    odds: PublishedOdds,
    odds_hash: Type.Union([Type.String(), Type.Null()]),
    return_to_player: Type.Union([Type.Number(), Type.Null()], {
      description: 'A fraction of the stake; null without odds',
    }),
    created_at: Instant,
  }),
)
export type Decoration = Static<typeof Decoration>

/** A gift as operators see it: with its name as it was given. */
export const DefinedDecoration = named('DefinedGift', Type.Object({ ...Decoration.properties, name: LocalizedName }))
export type DefinedDecoration = Static<typeof DefinedDecoration>

/** Rows of a gift's odds; few, because the catalogue of 500 gifts is sent whole. */
export const MAX_ODDS_ROWS = 32

export const DefineDecoration = named(
  'GiftDefinition',
  Type.Object({
    name: Type.Optional(Name),
    kind: Type.Optional(GiftKind),
    price: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    image_path: Type.Optional(PicturePath),
    video_path: Type.Optional(
      Type.Union([PicturePath, Type.Null()], { title: 'a storage path, or null', description: 'null: no video' }),
    ),
    odds: Type.Optional(Type.Union([{ ...PublishedOdds, maxItems: MAX_ODDS_ROWS }, Type.Null()])),
  }),
)
export type DefineDecoration = Static<typeof DefineDecoration>

const heldItem = { decoration_id: Id, quantity: Id }

export const BagItem = named(
  'BagItem',
  Type.Object({ ...heldItem, name: Type.String(), image_path: Type.String(), image_url: ImageUrl }),
)

/** What a user holds of a gift after it was added. */
export const AddedBagItems = named('AddedBagItems', Type.Object({ user_id: Id, ...heldItem }))

export const AddBagItems = named(
  'BagGrant',
  Type.Object({
    decoration_id: Id,
    quantity: Id,
    reason: Text(500, 1),
  }),
)
export type AddBagItems = Static<typeof AddBagItems>
