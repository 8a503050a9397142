import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { GiftKind } from '../../../schema/events.ts'
import { InstantSend, MAX_ODDS_ROWS, PublishedOdds } from '../../../schema/gifts.ts'
import { LocalizedName } from '../../../schema/languages.ts'
import { ExpectedVersion, inputSchema, registerVerb } from '../../ledger/executor/command.ts'
import type { State } from '../../ledger/rules/projection.ts'
import { chooseSeed, showChains } from '../fairness/lucky-chains.ts'
import type { Terms } from '../proposals/covered-verb.ts'
import { nameCoveredVerb, registerCovered } from '../proposals/register-covered.ts'
import type { Settings } from '../services.ts'
import { addBagItems, quantityInBag } from './bag.ts'
import { decorations } from './decoration.ts'
import { defineDecoration, priceAlone, priceChange } from './define-decoration.ts'
import { definedDecoration, sendResult } from './presenters.ts'
import { sendGift } from './send.ts'

const SendGift = inputSchema(
  Type.Object({
    caller_id: Id,
    sender_id: Id,
    decoration_id: Id,
    receiver_ids: Type.Array(Id, { minItems: 1, maxItems: 100 }),
    quantity: InstantSend.properties.quantity,
    room: Type.Union([Id, Type.String()]),
    from_bag: Type.Boolean(),
    encrypted: Type.Boolean(),
  }),
)

const DefineDecoration = inputSchema(
  Type.Object({
    decoration_id: Id,
    name: Type.Optional(LocalizedName),
    kind: Type.Optional(GiftKind),
    price: Type.Optional(Id),
    image_path: Type.Optional(Type.String()),
    video_path: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    odds: Type.Optional({ ...PublishedOdds, maxItems: MAX_ODDS_ROWS }),
    expected: ExpectedVersion,
  }),
)

const AddBagItems = inputSchema(Type.Object({ user_id: Id, decoration_id: Id, quantity: Id, reason: Type.String() }))

const ShowChains = inputSchema(Type.Object({ user_id: Id }))
const ChooseSeed = inputSchema(Type.Object({ user_id: Id, client_seed: Type.String() }))

const namedAddBagItems = nameCoveredVerb('add-bag-items', AddBagItems, {
  verb: addBagItems,
  describe: ({ user_id, reason }) => ({ action: 'bag', subject: `user:${user_id}`, reason }),
  grant: (state, { user_id, decoration_id, quantity }) => ({
    limit: 'bag',
    amount: BigInt(state.get(decorations, String(decoration_id))?.price ?? 0) * BigInt(quantity),
    account: `user:${user_id}:bag:${decoration_id}`,
    before: quantityInBag(state, user_id, decoration_id),
    quantity,
  }),
  terms: priceNow,
})

const namedDefineDecoration = nameCoveredVerb('define-decoration', DefineDecoration, {
  verb: defineDecoration,
  describe: ({ decoration_id }) => ({ action: 'price_raise', subject: `decoration:${decoration_id}`, reason: null }),
  grant: priceChange,
  terms: priceNow,
  // The price is all that a colleague sees, and so all that is approved.
  proposable: (_state, { decoration_id, price }) => ({ input: { decoration_id, price }, notPaid: [], rowCount: 1 }),
  proposalError: priceAlone,
})

function priceNow(state: State, { decoration_id }: { readonly decoration_id: number }): Terms {
  const gift = state.get(decorations, String(decoration_id))
  return gift === undefined ? {} : { price: gift.price }
}

export const coveredGiftVerbs = [namedAddBagItems, namedDefineDecoration] as const

/** The verbs of gifts, and of the chains that draw the lucky ones. */
export const giftVerbs = (settings: Settings) => ({
  sendGift: registerVerb(
    'send-gift',
    SendGift,
    sendGift({ chains: settings.luckyChains, ownerPercent: settings.ownerCommissionPercent }),
    {
      body: sendResult,
    },
  ),
  defineDecoration: registerCovered(namedDefineDecoration, {
    body: (decoration) => ({ data: definedDecoration(decoration, settings.assetBaseUrl) }),
  }),
  addBagItems: registerCovered(namedAddBagItems, { status: 201 }),
  showChains: registerVerb('show-chains', ShowChains, showChains(settings.luckyChains)),
  chooseSeed: registerVerb('choose-seed', ChooseSeed, chooseSeed(settings.luckyChains)),
})

export type GiftVerbs = ReturnType<typeof giftVerbs>
