import type { EventData } from '../../../schema/events.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { passedTime, passedTimeKey } from '../../ledger/rules/incarnation.ts'
import {
  integer,
  json,
  micros,
  nullable,
  projection,
  type RowOf,
  type State,
  text,
} from '../../ledger/rules/projection.ts'
import { versionOfValues } from '../../ledger/rules/stored-values.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import type { Terms, UnpaidRow } from './covered-verb.ts'

type Made = EventData<'proposal-made'>
type Decided = EventData<'proposal-decided'>

export type ProposalStatus = 'open' | Decided['decision']
export type Effect = Decided['effects'][number]

/** What a member of staff asked for beyond the limits, and what became of it. */
export const proposals = projection('proposals', {
  /** Position of the event that made it. */
  proposal_id: integer(),
  /** The version of what it moves and grants. */
  version: text(),
  status: text<ProposalStatus>(),
  action: text<Made['action']>(),
  /** The covered verb that does it. */
  verb: text(),
  subject: text(),
  /** In the smallest unit. */
  amounts: json<Made['amounts']>(),
  terms: json<Terms>(),
  reason: nullable(text()),
  rows_count: integer(),
  /** As proposed; as decided from then on. */
  not_paid: json<readonly UnpaidRow[]>(),
  maker: text(),
  decided_by: nullable(text()),
  note: nullable(text()),
  refusal: nullable(text()),
  created_at: micros(),
  expires_at: micros(),
  decided_at: nullable(micros()),
  /** Position of the event that decided or ended it. */
  decided_position: nullable(integer()),
})

export type Proposal = RowOf<typeof proposals>

/** What is long of a long proposal, so that lists need not read it. */
export const proposalContents = projection('proposal_contents', {
  proposal_id: integer(),
  /** The input of its verb. */
  input: json<unknown>(),
  /** Null unless it was approved or rejected. */
  effects: nullable(json<readonly Effect[]>()),
})

export type ProposalContents = RowOf<typeof proposalContents>

/** How long a proposal can be decided: 7 days. */
export const PROPOSAL_MICROS = 7 * 24 * 3_600_000_000

/** How far the time that has really passed may be behind the clock for a proposal to end: 1 hour. */
export const MAX_BEHIND_MICROS = 3_600_000_000

/**
 * The time by which proposals end: that of the command, unless a clock has jumped ahead by so much that time has not really
 * passed. In `state` is the row of `passedTimeKey`.
 */
export function endingTime(state: State, now: Micros): Micros {
  const passed = state.get(passedTime, passedTimeKey.id)
  return passed === undefined ? now : Math.min(now, passed.at + MAX_BEHIND_MICROS)
}

/** Whether it can still be decided, by `endingTime`. */
export const isOpen = ({ status, expires_at }: Pick<Proposal, 'status' | 'expires_at'>, time: Micros): boolean =>
  status === 'open' && time < expires_at

export const evolveProposals: Evolver = {
  'proposal-made': (state, { data, position, at }) => {
    const { input, ...made } = data
    state.set(proposals, String(position), {
      ...made,
      proposal_id: position,
      version: versionOf(data),
      status: 'open',
      decided_by: null,
      note: null,
      refusal: null,
      created_at: at,
      decided_at: null,
      decided_position: null,
    })
    state.set(proposalContents, String(position), { proposal_id: position, input, effects: null })
  },
  'proposal-changed': (state, { data: { proposal_id, amounts, terms } }) => {
    const proposal = requireOpen(state, proposal_id)
    const { input } = requireContents(state, proposal_id)
    const version = versionOf({ verb: proposal.verb, input, amounts, terms })
    state.set(proposals, String(proposal_id), { ...proposal, amounts, terms, version })
  },
  'proposal-decided': (state, { data, position, at }) => {
    const { proposal_id, decision, decided_by, note, effects, refusal, not_paid } = data
    const proposal = requireOpen(state, proposal_id)
    const { maker, expires_at } = proposal
    // The reverse is no rule: the ledger's time may be ahead of what has really passed.
    if (decision === 'expired' && at < expires_at) throw new Error(`proposal ${proposal_id} is not over`)
    if (decision === 'approved' && decided_by === maker) {
      throw new Error(`proposal ${proposal_id} was approved by its maker`)
    }
    // One that nobody decided was over at its time, whenever the event of it came, and moves nothing.
    const decided = decision === 'expired' ? { decided_at: expires_at } : { decided_at: at, not_paid }
    state.set(proposals, String(proposal_id), {
      ...proposal,
      status: decision,
      decided_by,
      note,
      refusal,
      ...decided,
      decided_position: position,
    })
    if (decision === 'expired') return
    state.set(proposalContents, String(proposal_id), { ...requireContents(state, proposal_id), effects })
  },
}

/** Changes when what is moved or granted does. */
const versionOf = ({ verb, input, amounts, terms }: Pick<Made, 'verb' | 'input' | 'amounts' | 'terms'>): string =>
  versionOfValues({ verb, input, amounts, terms })

function requireOpen(state: State, id: number): Proposal {
  const proposal = state.get(proposals, String(id))
  if (proposal === undefined) throw new Error(`there is no proposal ${id}`)
  if (proposal.status !== 'open') throw new Error(`proposal ${id} is closed`)
  return proposal
}

function requireContents(state: State, id: number): ProposalContents {
  const contents = state.get(proposalContents, String(id))
  if (contents === undefined) throw new Error(`there are no contents of proposal ${id}`)
  return contents
}
