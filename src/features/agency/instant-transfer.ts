import type { DollarWallet } from '../../../schema/agency-events.ts'
import type { Person } from '../../../schema/common.ts'
import { fieldMessages } from '../../language/messages.ts'
import { account, available, balanceKeys, balances, transfer, transferError } from '../../ledger/rules/account.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { product } from '../../ledger/rules/money.ts'
import { integer, keyOf, micros, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { inboxKey } from '../../notifications/inbox.ts'
import { userProfiles, users } from '../users/user.ts'
import { dollarWallet, walletAccount } from './dollars.ts'
import { namesIn } from './withdrawals/withdrawal.ts'

export const instantTransfers = projection('instant_transfers', {
  /** Position of the event that made it. */
  transfer_id: integer(),
  user_id: integer(),
  receiver_id: integer(),
  wallet: text<DollarWallet>(),
  /** Cents. */
  amount: integer(),
  /** Diamonds per dollar. */
  rate: integer(),
  diamonds: integer(),
  created_at: micros(),
})

type InstantTransfer = RowOf<typeof instantTransfers>

export interface NamedTransfer {
  readonly transfer: InstantTransfer
  readonly user: Person
  readonly receiver: Person
}

export const evolveInstantTransfers: Evolver = {
  'instant-transfer-made': (state, { data, position, at }) =>
    state.set(instantTransfers, String(position), { transfer_id: position, ...data, created_at: at }),
}

interface MakeInstantTransfer {
  readonly caller_id: number
  /** May be the caller. */
  readonly receiver_id: number
  /** Cents. */
  readonly amount: number
  readonly agent_benefit: boolean
}

const ISSUANCE = account('issuance', 'exchange', 'diamonds')
const exchangeAccount = (wallet: DollarWallet) => account('house', 'exchange', wallet)

const refusals = ['validation_failed', 'insufficient_balance', 'balance_limit'] as const

/**
 * Exchanges the caller's dollars for diamonds of the receiver, immediately. Refusals, in this order: `validation_failed`
 * (receiver), `insufficient_balance`, `balance_limit`.
 */
export const makeInstantTransfer: Verb<MakeInstantTransfer, NamedTransfer, typeof refusals> = {
  refusals,
  reads: ({ caller_id, receiver_id, agent_benefit }) => [
    keyOf(users, receiver_id),
    keyOf(userProfiles, caller_id),
    keyOf(userProfiles, receiver_id),
    inboxKey(receiver_id),
    ...balanceKeys(walletAccount(caller_id, dollarWallet(agent_benefit))),
    ...[exchangeAccount(dollarWallet(agent_benefit)), ISSUANCE, diamondAccount(receiver_id)].map((name) =>
      keyOf(balances, name),
    ),
  ],

  decide(state, { caller_id, receiver_id, amount, agent_benefit }) {
    const receiver = state.get(users, String(receiver_id))
    if (receiver === undefined) return refuse('validation_failed', { user_id: [fieldMessages.unknown_user] })
    const wallet = dollarWallet(agent_benefit)
    const from = walletAccount(caller_id, wallet)
    if (available(state, from) < BigInt(amount)) return refuse('insufficient_balance')
    const perCent = diamondsPerCent(receiver)
    const diamonds = diamondsFor(amount, perCent)
    if (diamonds === null) return refuse('balance_limit')
    const movements = [
      transfer(from, exchangeAccount(wallet), amount),
      transfer(ISSUANCE, diamondAccount(receiver_id), diamonds),
    ]
    const error = transferError(state, movements)
    if (error !== undefined) return refuse(error)
    const data = { user_id: caller_id, receiver_id, wallet, amount, rate: toDiamondsPerDollar(perCent), diamonds }
    return [{ type: 'instant-transfer-made', data, movements }]
  },

  result(state, _input, [made]) {
    const transfer = made && state.get(instantTransfers, String(made.position))
    if (transfer === undefined) throw new Error('no transfer was made')
    const { person } = namesIn(state)
    return { transfer, user: person(transfer.user_id), receiver: person(transfer.receiver_id) }
  },
}

const diamondAccount = (userId: number) => account('user', userId, 'diamonds')

/** Diamonds per cent in an instant transfer, by receiver. */
export const diamondsPerCent = (receiver: { readonly charging_agent: boolean }): number =>
  receiver.charging_agent ? 130 : 100

const CENTS_PER_DOLLAR = 100

/** Diamonds per dollar, the unit in which transfers state their rate. */
const toDiamondsPerDollar = (perCent: number): number => perCent * CENTS_PER_DOLLAR

/** Diamonds for an amount in cents; null beyond 2^53-1. */
export const diamondsFor = (cents: number, perCent: number): number | null => product(cents, perCent)
