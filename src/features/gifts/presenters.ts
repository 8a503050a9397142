import type { Static } from '@sinclair/typebox'
import type {
  BagItem,
  DefinedDecoration,
  Decoration as PublishedDecoration,
  SendResult,
} from '../../../schema/gifts.ts'
import type { Language } from '../../../schema/languages.ts'
import { givenName, nameIn } from '../../language/names.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { assetUrl } from '../asset-url.ts'
import type { Decoration } from './decoration.ts'
import { publishedRow, returnToPlayerFraction } from './odds.ts'
import type { BagRow } from './reads.ts'
import type { SentGift } from './send.ts'

/** A sent gift as its sender sees it. */
export const sendResult = ({ diamonds, decoration_id, price, drawn, orders }: SentGift): Static<typeof SendResult> => ({
  data: {
    diamonds,
    lucky_result: {
      code: drawn ? 0 : 1,
      data: {
        gift_id: decoration_id,
        gift_price: price,
        OrderList: orders.map(({ order_id, reward }) => ({ order_id, is_win: reward > 0 ? 1 : 0, reward_num: reward })),
      },
    },
  },
})

/** A gift as everyone sees it, odds included; addresses of picture and video begin with `assetBaseUrl`. */
export function publishedDecoration(
  decoration: Decoration,
  assetBaseUrl: string,
  language: Language,
): PublishedDecoration {
  const { decoration_id, created_at, ...fields } = decoration
  return {
    id: decoration_id,
    name: nameIn(decoration, language),
    kind: fields.kind,
    price: fields.price,
    image_path: fields.image_path,
    image_url: assetUrl(fields.image_path, assetBaseUrl),
    video_path: fields.video_path,
    video_url: fields.video_path === null ? null : assetUrl(fields.video_path, assetBaseUrl),
    odds: fields.odds.map(publishedRow),
    odds_hash: fields.odds_hash,
    return_to_player: fields.odds.length === 0 ? null : returnToPlayerFraction(fields.odds),
    created_at: isoMicros(created_at),
  }
}

/** A gift as operators see it. */
export const definedDecoration = (decoration: Decoration, assetBaseUrl: string): DefinedDecoration => ({
  ...publishedDecoration(decoration, assetBaseUrl, 'en'),
  name: givenName(decoration),
})

/** A kind of gift in a bag, as its owner sees it. */
export const bagItem = (row: BagRow, assetBaseUrl: string, language: Language): Static<typeof BagItem> => ({
  decoration_id: row.decoration_id,
  quantity: row.quantity,
  name: nameIn(row, language),
  image_path: row.image_path,
  image_url: assetUrl(row.image_path, assetBaseUrl),
})
