import type { DollarWallet } from '../../../schema/agency-events.ts'
import { type Account, account } from '../../ledger/rules/account.ts'

export const dollarWallet = (agentBenefit: boolean): DollarWallet => (agentBenefit ? 'agent_dollars' : 'dollars')

export const walletAccount = (userId: number, wallet: DollarWallet): Account => account('user', userId, wallet)

/** Where the money of a request stands from its approval until it is transferred or paid back. */
export const withdrawalAccount = (withdrawalId: number): Account => account('withdrawal', withdrawalId, 'dollars')

/** What an agent or manager has paid out and been credited for. */
export const settlementAccount = (targetId: number): Account => account('settled', targetId, 'dollars')

/** Agent dollars become dollars where they leave the wallet, and agent dollars again should they come back. */
export const AGENT_DOLLARS_CLEARING = account('house', 'withdrawals', 'agent_dollars')
export const DOLLARS_CLEARING = account('house', 'withdrawals', 'dollars')
