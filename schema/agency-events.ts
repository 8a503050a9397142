import { type Static, Type } from '@sinclair/typebox'
import { Amount, Id } from './common.ts'

/** The agency's events of the ledger; part of those in events.ts. */

export const WithdrawalType = Type.Union([Type.Literal('gold_agent'), Type.Literal('cash')])
export type WithdrawalType = Static<typeof WithdrawalType>

export const WithdrawalStatus = Type.Union([
  Type.Literal('pending'),
  Type.Literal('approved'),
  Type.Literal('rejected'),
  Type.Literal('transferred'),
])
export type WithdrawalStatus = Static<typeof WithdrawalStatus>

/** A user's two wallets: the host's own, and that of an agent's commission. */
export const DollarWallet = Type.Union([Type.Literal('dollars'), Type.Literal('agent_dollars')])
export type DollarWallet = Static<typeof DollarWallet>

/** The record of the vault that holds what people wrote; null when they wrote nothing. */
const VaultId = Type.Union([Type.String(), Type.Null()])

export const agencyEvents = {
  /** Dollars are put on hold; this event's position is the request's id. */
  'withdrawal-requested': {
    version: 1,
    data: Type.Object({
      type: WithdrawalType,
      user_id: Id,
      /** The charging agent or the business manager it is addressed to. */
      target_id: Id,
      /** Who gets the diamonds, which the agent pays outside this service; nobody for cash. */
      beneficiary_id: Type.Union([Id, Type.Null()]),
      country_id: Id,
      wallet: DollarWallet,
      /** Cents. */
      amount: Id,
      /** The agent's rate at this moment; null for cash. */
      diamonds_per_dollar: Type.Union([Id, Type.Null()]),
      details: VaultId,
    }),
  },
  'withdrawal-status-changed': {
    version: 1,
    data: Type.Object({
      withdrawal_id: Id,
      user_id: Id,
      target_id: Id,
      wallet: DollarWallet,
      /** Cents. */
      amount: Id,
      from: WithdrawalStatus,
      to: WithdrawalStatus,
      note: VaultId,
    }),
  },
  /** Dollars for diamonds, at once; this event's position is the transfer's id. */
  'instant-transfer-made': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      receiver_id: Id,
      wallet: DollarWallet,
      /** Cents. */
      amount: Id,
      /** Diamonds for a dollar. */
      rate: Id,
      diamonds: Id,
    }),
  },
  /** What a user earned in a period, in cents; `target` points were taken for it. */
  'salary-deposited': {
    version: 1,
    data: Type.Object({ period: Type.String(), user_id: Id, dollars: Amount, agent_dollars: Amount, target: Amount }),
  },
} as const
