import type { Pool } from 'pg'
import type { EventData } from '../../../../schema/events.ts'
import type { PublishedDraw } from '../../../../schema/fairness.ts'
import type { Decoration as PublishedDecoration } from '../../../../schema/gifts.ts'
import type { Decoration } from '../../../../src/features/gifts/catalogue/decoration.ts'
import { publishedDecoration } from '../../../../src/features/gifts/presenters.ts'
import { orderId } from '../../../../src/features/gifts/send.ts'
import { isoMicros } from '../../../../src/ledger/rules/time.ts'
import { microsOf, prepared } from './prepared.ts'

const decorationRows = prepared<Decoration>(
  'decorations',
  `select decoration_id, name, name_ar, kind, price, image_path, video_path, odds::json as odds, odds_hash,
          ${microsOf('created_at')} as created_at
   from decorations order by decorations.created_at desc, decoration_id desc`,
)

export const readDecorations = async (pool: Pool, assetBaseUrl: string): Promise<PublishedDecoration[]> =>
  (await decorationRows(pool)).map((decoration) => publishedDecoration(decoration, assetBaseUrl, 'en'))

interface DrawRow {
  readonly position: number
  readonly data: EventData<'gift-drawn'>
  readonly at: number
}

const drawRows = prepared<DrawRow>(
  'draws',
  `select position, data::json as data, ${microsOf('at')} as at from ledger_events
   where type = 'gift-drawn' and actor = $1 order by position desc limit $2`,
)

/** The user's newest draws, with their positions. */
export async function readDraws(
  pool: Pool,
  userId: number,
  limit: number,
): Promise<{ readonly position: number; readonly draw: PublishedDraw }[]> {
  const rows = await drawRows(pool, `user:${userId}`, limit)
  return rows.map(({ position, data, at }) => {
    const { chain, k, link, client_seed, decoration_id, odds_hash, price, quantity, draws } = data
    const orders = draws.map(({ r, reward }, i) => ({ order_id: orderId(position, i), r, reward_num: reward }))
    const stake = price * quantity
    return {
      position,
      draw: { chain, k, link, client_seed, decoration_id, odds_hash, stake, orders, created_at: isoMicros(at) },
    }
  })
}
