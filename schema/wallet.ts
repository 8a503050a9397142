import { type Static, Type } from '@sinclair/typebox'
import { Amount, Bit, Dollars, dataOf, Id, Instant, PageMeta, PageQuery, PersonResource } from './common.ts'
import { BagItem } from './gifts.ts'
import { named } from './named.ts'
import { CurrencyName } from './operator.ts'
import { ActivePrivilege } from './privilege.ts'

/** All that a user holds. Coins, diamonds and target points are whole numbers, dollars have two decimals. */
export const Wallet = dataOf(
  named(
    'Wallet',
    Type.Object(
      {
        user: named(
          'WalletUser',
          Type.Composite([
            PersonResource,
            Type.Object({ charging_agent: Bit, allow_receive_withdraw_requests: Bit, business_manager: Bit }),
          ]),
        ),
        coins: Amount,
        diamonds: Amount,
        target: Amount,
        wallet_dollars_count: Dollars,
        wallet_agent_dollars_count: Dollars,
        pending_dollars: Dollars,
        pending_agent_dollars: Dollars,
        available_dollars: Dollars,
        available_agent_dollars: Dollars,
        privilege: ActivePrivilege,
        bag: Type.Array(BagItem),
      },
      { description: 'All that a user holds' },
    ),
  ),
)

export const WalletHistoryQuery = Type.Composite([PageQuery, Type.Object({ currency: Type.Optional(CurrencyName) })])

/** Whole numbers, and dollars as numbers with cents, which a double may not have. */
const Units = (description: string) => Type.Unsafe<number | { readonly rawJSON: string }>(Type.Number({ description }))

/** A movement of the caller's value. */
export const HistoryItem = named(
  'HistoryItem',
  Type.Object({
    id: Type.String({
      pattern: '^[1-9][0-9]*-[0-9]+$',
      description: "the event's position, and the movement's number among the caller's in it",
    }),
    type: Type.String({ description: "the event's" }),
    currency: CurrencyName,
    amount: Units('negative where it left the caller; dollars with cents'),
    balance: Units('after it'),
    at: Instant,
    counter_account: Type.Union([Type.Object({ user_id: Id }), Type.String()], {
      description: "where it came from or went to: another user, or an account's name",
    }),
  }),
  "A movement of the caller's value, with the balance after it",
)
export type HistoryItem = Static<typeof HistoryItem>

export const WalletHistory = Type.Object({
  data: Type.Array(HistoryItem),
  meta: named('HistoryMeta', Type.Composite([PageMeta, Type.Object({ indexed_up_to: Type.Integer({ minimum: 0 }) })])),
})
