import type { ProposalRecord } from '../../../schema/proposals.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import { centsToDollars, type ExactNumber, isDollars } from '../../ledger/rules/money.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { keptPreview, type Preview } from './effects.ts'
import type { Proposal } from './proposal.ts'

/** A proposal as staff see it: an open one with what it would do, a decided one with what was kept. */
export const proposalRecord = (
  proposal: Omit<Proposal, 'verb' | 'input'>,
  preview: Preview = keptPreview(proposal),
): ProposalRecord => {
  const { amount, currency } = proposal
  return {
    id: proposal.proposal_id,
    status: proposal.status,
    action: proposal.action,
    subject: proposal.subject,
    amount: amount === null ? null : formatUnits(currency ?? '', amount),
    currency,
    reason: proposal.reason,
    effects: preview.effects.map(({ account, before, after }) => {
      const name = currencyOf(account)
      return { account, before: formatUnits(name, before), after: formatUnits(name, after) }
    }),
    maker: proposal.maker,
    decided_by: proposal.decided_by,
    note: proposal.note,
    refusal: preview.refusal,
    ...(preview.notPaid !== null && { not_paid: [...preview.notPaid] }),
    created_at: isoMicros(proposal.created_at),
    expires_at: isoMicros(proposal.expires_at),
    decided_at: proposal.decided_at === null ? null : isoMicros(proposal.decided_at),
  }
}

/** Dollars as such, and everything else in ones; beyond 2^53-1 units as a decimal string. */
function formatUnits(currency: string, units: number | string): number | string | ExactNumber {
  if (!isDollars(currency)) return units
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(String(units)) ?? []
  if (typeof units === 'string') return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`
  const dollars = centsToDollars(Math.abs(units))
  return sign === '' ? dollars : JSON.rawJSON(`-${dollars.rawJSON}`)
}
