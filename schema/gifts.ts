import { type Static, Type } from '@sinclair/typebox'
import { Amount, Bit, dataOf, Flag, Id, Instant, Name, PicturePath, Text } from './common.ts'
import { GiftKind } from './events.ts'
import { arabicForm, LocalizedName } from './languages.ts'
import { named } from './named.ts'

const Quantity = Type.Integer({ minimum: 1, maximum: 9_999, description: 'Gifts for each receiver' })
const RoomRef = Type.Union([Id, Text(64, 1)], {
  title: 'an id or a uid (1 to 64 characters)',
  ...arabicForm('معرّف id أو معرّف uid (من 1 إلى 64 حرفًا)'),
  description: 'of the room',
})

export const InstantSend = named(
  'GiftRequest',
  Type.Object({
    u_id: { ...Id, description: 'the caller' },
    decoration_id: { ...Id, description: 'of the gift' },
    user_id: Type.Array(Id, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Ids of the receivers; not of the sender',
    }),
    quantity: Quantity,
    room_id: RoomRef,
    is_bag: Type.Optional({ ...Flag, description: "whether to send items of the caller's bag instead of paying" }),
    with_encryption: Type.Optional({
      ...Flag,
      description:
        'whether the websocket frames of this send carry image_path, video_path and current_profile_image_url encoded with ' +
        'rot41, which moves each character from ! to ~ (94 of them) 41 places forward, after ~ on from !. Such frames have ' +
        'enc. Answers of HTTP are never encoded',
    }),
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
        diamonds: { ...Amount, description: 'what the sender has now, rewards included' },
        lucky_result: Type.Object({
          code: Type.Union([Type.Literal(0), Type.Literal(1)], { description: '0: orders were drawn; 1: no draw' }),
          data: Type.Object({
            gift_id: Id,
            gift_price: { ...Amount, description: 'diamonds of one gift' },
            OrderList: Type.Array(
              named(
                'GiftOrder',
                Type.Object({
                  order_id: Type.String({ description: "the send's position on the ledger, and the order's number" }),
                  is_win: { ...Bit, description: '1 when reward_num is above 0, be it less than the stake' },
                  reward_num: { ...Amount, description: 'diamonds that this order won, paid already' },
                }),
              ),
              { description: 'One for each receiver, in the order of user_id' },
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
      weight: Type.Integer({
        minimum: 1,
        maximum: 1_000_000_000,
        description: 'The row is drawn this often in as many draws as all weights together',
      }),
    }),
    { maxItems: 1_000 },
  ),
)

const ImageUrl = Type.String({ description: "the picture's address; empty without one" })
const VideoUrl = Type.Union([Type.String(), Type.Null()], { description: "the video's address; null without one" })

export const Decoration = named(
  'Gift',
  Type.Object({
    id: Id,
    name: Type.String(),
    kind: GiftKind,
    price: Type.Integer({ minimum: 1, description: 'Diamonds' }),
    image_path: Type.String({ description: 'a storage path; image_url is its address' }),
    image_url: ImageUrl,
    video_path: Type.Union([Type.String(), Type.Null()], { description: 'a storage path; null without a video' }),
    video_url: VideoUrl,
    odds: PublishedOdds,
    odds_hash: Type.Union([Type.String(), Type.Null()], {
      description: 'SHA-256 of the odds, by which draws refer to them; null without odds',
    }),
    return_to_player: Type.Union([Type.Number(), Type.Null()], {
      description: 'A fraction of the stake; null without odds',
    }),
    created_at: Instant,
  }),
  'A gift that can be sent, with its price in diamonds and its odds',
)
export type Decoration = Static<typeof Decoration>

/** A gift as operators see it: with its name as it was given. */
export const DefinedDecoration = named(
  'DefinedGift',
  Type.Object({ ...Decoration.properties, name: LocalizedName }),
  'A gift as operators see it, with its name as it was given',
)
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
      Type.Union([PicturePath, Type.Null()], {
        title: 'a storage path, or null',
        ...arabicForm('مسار تخزين أو null'),
        description: 'null: no video',
      }),
    ),
    odds: Type.Optional(Type.Union([{ ...PublishedOdds, maxItems: MAX_ODDS_ROWS }, Type.Null()])),
  }),
)
export type DefineDecoration = Static<typeof DefineDecoration>

const heldItem = { decoration_id: Id, quantity: Id }

export const BagItem = named(
  'BagItem',
  Type.Object({ ...heldItem, name: Type.String(), image_path: Type.String(), image_url: ImageUrl }),
  'A gift that the user holds, and how many of it',
)

/** What a user holds of a gift after it was added. */
export const AddedBagItems = named(
  'AddedBagItems',
  Type.Object({ user_id: Id, ...heldItem }),
  'What a user holds of a gift after some of it was added',
)

export const AddBagItems = named(
  'BagGrant',
  Type.Object({
    decoration_id: Id,
    quantity: Id,
    reason: Text(500, 1),
  }),
)
export type AddBagItems = Static<typeof AddBagItems>
