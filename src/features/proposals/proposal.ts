import type { EventData } from '../../../schema/events.ts'
import { integer, json, micros, nullable, text } from '../../ledger/rules/columns.ts'
import type { UnpaidRow } from '../../ledger/rules/covered-verb.ts'
import type { Evolver } from '../../ledger/rules/evolve.ts'
import { projection, type RowOf } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'

type Made = EventData<'proposal-made'>
type Decided = EventData<'proposal-decided'>

export type ProposalStatus = 'open' | Decided['decision']
export type Effect = Decided['effects'][number]

/** What a member of staff asked for beyond the limits, and what became of it. */
export const proposals = projection('proposals', {
  /** Position of the event that made it. */
  proposal_id: integer(),
  status: text<ProposalStatus>(),
  action: text<Made['action']>(),
  /** What an approval does: a covered verb and its input. */
  verb: text(),
  input: json<unknown>(),
  subject: text(),
  /** In the smallest unit; null, like the currency, where several are named. */
  amount: nullable(integer()),
  currency: nullable(text<Made['amounts'][number]['limit']>()),
  reason: nullable(text()),
  /** Null while it is open. */
  effects: nullable(json<readonly Effect[]>()),
  /** Of a salary file, once it is decided. */
  not_paid: nullable(json<readonly UnpaidRow[]>()),
  maker: text(),
  decided_by: nullable(text()),
  note: nullable(text()),
  refusal: nullable(text()),
  created_at: micros(),
  expires_at: micros(),
  decided_at: nullable(micros()),
})

export type Proposal = RowOf<typeof proposals>

/** How long a proposal can be decided: 7 days. */
export const PROPOSAL_MICROS = 7 * 24 * 3_600_000_000

/** Whether it can still be decided. */
export const isOpen = ({ status, expires_at }: Pick<Proposal, 'status' | 'expires_at'>, now: Micros): boolean =>
  status === 'open' && now < expires_at

export const evolveProposals: Evolver = {
  'proposal-made': (state, { data, position, at }) => {
    const { maker, action, verb, input, subject, reason, amounts, expires_at } = data
    const only = amounts.length === 1 ? amounts[0] : undefined
    state.set(proposals, String(position), {
      proposal_id: position,
      status: 'open',
      action,
      verb,
      input,
      subject,
      amount: only?.amount ?? null,
      currency: only?.limit ?? null,
      reason,
      effects: null,
      not_paid: null,
      maker,
      decided_by: null,
      note: null,
      refusal: null,
      created_at: at,
      expires_at,
      decided_at: null,
    })
  },
  'proposal-decided': (state, { data, at }) => {
    const { proposal_id, decision, decided_by, note, effects, refusal, not_paid = null } = data
    const proposal = state.get(proposals, String(proposal_id))
    if (proposal === undefined) throw new Error(`there is no proposal ${proposal_id}`)
    const { status, maker, expires_at } = proposal
    const isDue = at >= expires_at
    if (status !== 'open' || isDue !== (decision === 'expired')) throw new Error(`proposal ${proposal_id} is closed`)
    if (decision === 'approved' && decided_by === maker) {
      throw new Error(`proposal ${proposal_id} was approved by its maker`)
    }
    // One that nobody decided was over at its time, whenever the event of it came.
    const decided_at = decision === 'expired' ? expires_at : at
    const decided = { status: decision, decided_by, note, effects, not_paid, refusal, decided_at }
    state.set(proposals, String(proposal_id), { ...proposal, ...decided })
  },
}
