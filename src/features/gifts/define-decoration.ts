import type { GiftKind, OddsRow } from '../../../schema/events.ts'
import type { LocalizedName, LocalizedText } from '../../../schema/languages.ts'
import { givenName, storedName } from '../../language/names.ts'
import { keyOf, type State } from '../../ledger/rules/projection.ts'
import { type ExpectedVersion, hasValues, isExpected } from '../../ledger/rules/stored-values.ts'
import { type Context, isRefusal, type Refusal, refuse, type Verb } from '../../ledger/rules/verb.ts'
import type { Grant } from '../proposals/covered-verb.ts'
import { bagTotals, totalInBags } from './bag.ts'
import {
  CATALOGUE,
  catalogueCounts,
  type Decoration,
  decorationCount,
  decorations,
  decorationVersion,
  MAX_DECORATIONS,
  sharesOf,
} from './decoration.ts'
import { giftMessages } from './messages.ts'
import { MAX_TOTAL_WEIGHT, oddsHash, type PublishedRow, parseOdds, returnToPlayer, totalWeight } from './odds.ts'

/** Omitted fields keep their values. */
export interface DefineDecoration {
  readonly decoration_id: number
  readonly name?: LocalizedName | undefined
  readonly kind?: GiftKind | undefined
  /** Diamonds. */
  readonly price?: number | undefined
  readonly image_path?: string | undefined
  /** Null removes the video. */
  readonly video_path?: string | null | undefined
  /** As published: multipliers are decimal numbers. */
  readonly odds?: readonly PublishedRow[] | undefined
  readonly expected?: ExpectedVersion | undefined
}

type Errors = Record<string, readonly LocalizedText[]>

const refusals = ['precondition_failed', 'validation_failed', 'holding_limit'] as const

/**
 * Creates or changes a gift; an identical definition writes no event. Refusals: `precondition_failed` (another version is
 * stored), `validation_failed` (fields that a new gift must have, odds that do not fit its kind or pay back too much),
 * `holding_limit` (the catalogue is full).
 */
export const defineDecoration: Verb<DefineDecoration, Decoration, typeof refusals> = {
  refusals,
  reads: ({ decoration_id }) => [
    keyOf(decorations, decoration_id),
    keyOf(catalogueCounts, CATALOGUE),
    keyOf(bagTotals, decoration_id),
  ],
  decide: (state, input) => {
    const before = state.get(decorations, String(input.decoration_id))
    if (!isExpected(input.expected, before, decorationVersion)) return refuse('precondition_failed')
    const errors: Errors = {}
    const name = input.name ?? (before && givenName(before))
    const kind = input.kind ?? before?.kind
    const price = input.price ?? before?.price
    if (name === undefined) errors['name'] = [giftMessages.needs_name]
    if (kind === undefined) errors['kind'] = [giftMessages.needs_kind]
    if (price === undefined) errors['price'] = [giftMessages.needs_price]
    const parsed = input.odds === undefined ? { rows: before?.odds ?? [] } : parseOdds(input.odds)
    const odds = 'rows' in parsed ? parsed.rows : []
    if ('errors' in parsed) Object.assign(errors, parsed.errors)
    else if (kind !== undefined) checkOdds(kind, odds, errors)
    if (name === undefined || kind === undefined || price === undefined || Object.keys(errors).length > 0) {
      return refuse('validation_failed', errors)
    }
    if (before === undefined && decorationCount(state) >= MAX_DECORATIONS) return refuse('holding_limit')
    const data = {
      decoration_id: input.decoration_id,
      name,
      kind,
      price,
      image_path: input.image_path ?? before?.image_path ?? '',
      video_path: input.video_path === undefined ? (before?.video_path ?? null) : input.video_path,
      odds: [...odds],
      odds_hash: odds.length === 0 ? null : oddsHash(input.decoration_id, odds),
    }
    if (before !== undefined && hasValues(before, { ...data, ...storedName(name) })) return []
    return [{ type: 'decoration-defined', data, movements: [] }]
  },
  result(state, { decoration_id }) {
    const decoration = state.get(decorations, String(decoration_id))
    if (decoration === undefined) throw new Error(`gift ${decoration_id} was not defined`)
    return decoration
  },
}

/** What a change of the price makes all that lies in bags worth more, or less; null where the price stays. */
export function priceChange(state: State, { decoration_id, price }: DefineDecoration): Grant | null {
  const before = state.get(decorations, String(decoration_id))?.price
  if (before === undefined || price === undefined || price === before) return null
  const quantity = price - before
  return {
    limit: 'bag',
    amount: BigInt(quantity) * totalInBags(state, decoration_id),
    account: `decoration:${decoration_id}:price`,
    before,
    quantity,
  }
}

/** Refuses (`validation_failed`) to change anything besides the price: only the price needs approval. */
export function priceAlone(state: State, input: DefineDecoration, context: Context): Refusal | null {
  const rest = defineDecoration.decide(state, { ...input, price: undefined }, context)
  if (isRefusal(rest)) return rest
  return rest.length === 0 ? null : refuse('validation_failed', { price: [giftMessages.price_alone] })
}

/** Adds why a gift of this kind may not have these odds. */
export function checkOdds(kind: GiftKind, odds: readonly OddsRow[], errors: Errors): void {
  if (kind === 'standard' && odds.length > 0) errors['odds'] = [giftMessages.odds_of_standard]
  else if (kind === 'lucky' && odds.length === 0) errors['odds'] = [giftMessages.needs_odds]
  else if (totalWeight(odds) > MAX_TOTAL_WEIGHT) errors['odds'] = [giftMessages.total_weight]
  else if (odds.length > 0 && paysTooMuch(kind, odds)) {
    errors['odds'] = [giftMessages.pays_too_much]
  }
}

/** Whether paid/staked + receiver/100 > 1, in integers. Gifts with odds pay no owner's commission. */
function paysTooMuch(kind: GiftKind, odds: readonly OddsRow[]): boolean {
  const { paid, staked } = returnToPlayer(odds)
  return paid * 100n + staked * BigInt(sharesOf(kind, 0).receiver) > staked * 100n
}
