import type { ProposalRecord } from '../../../schema/proposals.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import { centsToDollars, type ExactNumber, isDollars } from '../../ledger/rules/money.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { PreviewedProposal } from './make.ts'
import type { Effect } from './proposal.ts'

/** Effects that a proposal is shown with; a salary file has thousands. */
const MAX_SHOWN_EFFECTS = 50

/** A proposal as staff see it: an open one with what it would do, a decided one with what was kept. */
export const proposalRecord = ({ proposal, preview }: PreviewedProposal): ProposalRecord => ({
  id: proposal.proposal_id,
  version: proposal.version,
  status: proposal.status,
  action: proposal.action,
  subject: proposal.subject,
  amounts: proposal.amounts.map(({ limit, amount }) => ({ currency: limit, amount: formatUnits(limit, amount) })),
  reason: proposal.reason,
  effects: preview.effects.slice(0, MAX_SHOWN_EFFECTS).map(effectRecord),
  rows_count: proposal.rows_count,
  not_paid: [...preview.notPaid],
  maker: proposal.maker,
  decided_by: proposal.decided_by,
  note: proposal.note,
  refusal: preview.refusal,
  created_at: isoMicros(proposal.created_at),
  expires_at: isoMicros(proposal.expires_at),
  decided_at: proposal.decided_at === null ? null : isoMicros(proposal.decided_at),
})

export function effectRecord({ account, before, after }: Effect): ProposalRecord['effects'][number] {
  const currency = currencyOf(account)
  return { account, before: formatUnits(currency, before), after: formatUnits(currency, after) }
}

/** Dollars as such, and everything else in ones; beyond 2^53-1 units as a decimal string. */
function formatUnits(currency: string, units: number | string): number | string | ExactNumber {
  if (!isDollars(currency)) return units
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(String(units)) ?? []
  if (typeof units === 'string') return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`
  const dollars = centsToDollars(Math.abs(units))
  return sign === '' ? dollars : JSON.rawJSON(`-${dollars.rawJSON}`)
}
