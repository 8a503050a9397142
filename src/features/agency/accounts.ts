import type { DollarWallet } from '../../../schema/agency-events.ts'
import { type Account, account } from '../../ledger/rules/account.ts'

export const dollarWallet = (agentBenefit: boolean): DollarWallet => (agentBenefit ? 'agent_dollars' : 'dollars')

export const walletAccount = (userId: number, wallet: DollarWallet): Account => account('user', userId, wallet)

/** Holds the dollars of a request from its approval until it is transferred or refunded. */
export const withdrawalAccount = (withdrawalId: number): Account => account('withdrawal', withdrawalId, 'dollars')

/** Collects the dollars of requests that an agent or manager has paid out. */
export const settlementAccount = (targetId: number): Account => account('settled', targetId, 'dollars')

/** Convert agent dollars into dollars when a request is approved, and back when it is rejected afterwards. */
export const AGENT_DOLLARS_CLEARING = account('house', 'withdrawals', 'agent_dollars')
export const DOLLARS_CLEARING = account('house', 'withdrawals', 'dollars')
