import { type Static, Type } from '@sinclair/typebox'
import {
  Amount,
  Bit,
  CurrencyName,
  Dollars,
  dataOf,
  Id,
  Instant,
  PageMeta,
  PageQuery,
  PersonResource,
  Text,
} from './common.ts'
import type { EventType } from './events.ts'
import { BagItem } from './gifts.ts'
import { arabicForm } from './languages.ts'
import { named } from './named.ts'
import { ActivePrivilege } from './privilege.ts'

const dollars = (description: string) => ({ ...Dollars, description: `${description}; exact to the cent` })

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
        coins: { ...Amount, description: 'for games' },
        diamonds: { ...Amount, description: 'for gifts' },
        target: { ...Amount, description: 'points earned by received gifts; a salary may take them' },
        wallet_dollars_count: dollars('the host wallet: earnings as a host, with what is on hold'),
        wallet_agent_dollars_count: dollars(
          'the agent wallet: commissions as an agent, with what is on hold; used where a request says agent_benefit',
        ),
        pending_dollars: dollars('of the host wallet: on hold for withdrawals that are not decided'),
        pending_agent_dollars: dollars('of the agent wallet: on hold for withdrawals that are not decided'),
        available_dollars: dollars('of the host wallet: what can be used, the wallet less what is on hold'),
        available_agent_dollars: dollars('of the agent wallet: what can be used, the wallet less what is on hold'),
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

/** The events that move what users hold. */
const movingEvents = {
  'balance-credited': 'staff added to a balance',
  'balance-debited': 'staff took from a balance',
  'gift-sent': 'a gift without draws: its price, or the share of a receiver or of the owner of the room',
  'gift-drawn': 'a gift with draws: its price, what it won, or the share of a receiver',
  'roulette-joined': 'the stake of a game',
  'roulette-left': 'a stake that was paid back on leaving',
  'roulette-finished': 'the prize of a game',
  'roulette-cancelled': 'a stake that was paid back as the game was cancelled',
  'withdrawal-status-changed': 'a withdrawal that was approved, or paid back as it was rejected after that',
  'instant-transfer-made': 'dollars that became diamonds, or diamonds that were received for them',
  'salary-deposited': 'a salary, or the target points that were taken for it',
} as const satisfies Partial<Record<EventType, string>>

/** A movement of the caller's value. */
export const HistoryItem = named(
  'HistoryItem',
  Type.Object({
    id: Type.String({
      pattern: '^[1-9][0-9]*-[0-9]+$',
      description: "the event's position, and the movement's number among the caller's in it",
    }),
    type: Type.String({
      description: `the event's. ${Object.entries(movingEvents)
        .map(([type, meaning]) => `${type}: ${meaning}`)
        .join('. ')}. Further ones may be added`,
    }),
    currency: CurrencyName,
    amount: Units('negative where it left the caller; dollars with cents'),
    balance: Units('after it'),
    at: Instant,
    counter_account: Type.Union([Type.Object({ user_id: Id }), Type.String()], {
      description:
        'where it came from or went to: another user, or the name of an account, which is not for people. ' +
        'house:gifts:…: paid for gifts and won by them; issuance:gifts:target: shares of gifts; game:{id}:coins: a game; ' +
        'withdrawal:{id}:dollars and house:withdrawals:agent_dollars: a ' +
        'withdrawal; house:exchange:… and issuance:exchange:diamonds: an instant transfer; issuance:salary:… and ' +
        'house:salary:target: a salary; issuance:operator:…: staff',
    }),
  }),
  "A movement of the caller's value, with the balance after it",
)
export type HistoryItem = Static<typeof HistoryItem>

export const WalletHistory = Type.Object({
  data: Type.Array(HistoryItem),
  meta: named('HistoryMeta', Type.Composite([PageMeta, Type.Object({ indexed_up_to: Type.Integer({ minimum: 0 }) })])),
})

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
