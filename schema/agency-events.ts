import { type Static, Type } from '@sinclair/typebox'
import { Amount, Id } from './common.ts'
import { named } from './named.ts'
import { Approval } from './proposals.ts'

/** The agency's part of the events in events.ts. */

export const WithdrawalType = named('WithdrawalType', Type.Union([Type.Literal('gold_agent'), Type.Literal('cash')]))
export type WithdrawalType = Static<typeof WithdrawalType>

export const WithdrawalStatus = named(
  'WithdrawalStatus',
  Type.Union([
    Type.Literal('pending'),
    Type.Literal('approved'),
    Type.Literal('rejected'),
    Type.Literal('transferred'),
  ]),
)
export type WithdrawalStatus = Static<typeof WithdrawalStatus>

/** A user's two dollar wallets: his own earnings as a host, and commissions as an agent. */
export const DollarWallet = Type.Union([Type.Literal('dollars'), Type.Literal('agent_dollars')])
export type DollarWallet = Static<typeof DollarWallet>

/** Who changed the status of a withdrawal: its requester, the agent or manager that it is addressed to, or staff. */
export const WithdrawalParty = Type.Union([Type.Literal('requester'), Type.Literal('target'), Type.Literal('staff')])
export type WithdrawalParty = Static<typeof WithdrawalParty>

/** The vault record with what the user wrote; null when there is none. */
const VaultId = Type.Union([Type.String(), Type.Null()])

export const agencyEvents = {
  /** Puts dollars on hold; this event's position is the request's id. */
  'withdrawal-requested': {
    version: 1,
    data: Type.Object({
      type: WithdrawalType,
      user_id: Id,
      /** The charging agent or business manager that the request is addressed to. */
      target_id: Id,
      /** Who gets the diamonds, which the agent pays outside this service; null for cash. */
      beneficiary_id: Type.Union([Id, Type.Null()]),
      country_id: Id,
      wallet: DollarWallet,
      /** Cents. */
      amount: Id,
      /** The agent's rate at the time; null for cash. */
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
      by: WithdrawalParty,
      note: VaultId,
    }),
  },
  /** Exchanges dollars for diamonds at once; this event's position is the transfer's id. */
  'instant-transfer-made': {
    version: 1,
    data: Type.Object({
      user_id: Id,
      receiver_id: Id,
      wallet: DollarWallet,
      /** Cents. */
      amount: Id,
      /** Diamonds per dollar. */
      rate: Id,
      diamonds: Id,
    }),
  },
  /** What a user earned in a period, in cents, for which `target` points were taken. */
  'salary-deposited': {
    version: 1,
    data: Type.Object({
      period: Type.String(),
      user_id: Id,
      dollars: Amount,
      agent_dollars: Amount,
      target: Amount,
      approval: Approval,
    }),
  },
} as const
