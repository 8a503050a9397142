import type { EventData } from '../../../schema/events.ts'
import { proposals } from '../../features/proposals/proposal.ts'
import type { EventWithoutMovements } from '../../ledger/rules/event.ts'
import type { State } from '../../ledger/rules/state.ts'

/** By whom, and in which request, an event was caused. */
interface Origin {
  readonly actor: string
  readonly requestId: string
}

/** An approval whose effect is to follow. */
interface Approved {
  readonly position: number
  readonly proposal_id: number
  readonly approver: string
  readonly maker: string
  readonly requestId: string
  /** Events of the effect that have not come yet. */
  missing: number
}

/**
 * Checks that every approval is followed by its effect, in the same command, as its maker and naming who approved it, and
 * that no event claims an approval that is not there. That a closed proposal is not decided, and that nobody approves a
 * proposal of their own, are rules of the events themselves.
 */
export class ProposalChecks {
  readonly #addFault: (position: number, message: string) => void
  #approved: Approved | undefined

  constructor(addFault: (position: number, message: string) => void) {
    this.#addFault = addFault
  }

  /** `state`: replayed from the events before this one. */
  check(event: EventWithoutMovements, origin: Origin, state: State): void {
    // Nearly all events have nothing to do with proposals, and decoding an origin takes time.
    const isCovered = coveredTypes.has(event.type)
    if (this.#approved === undefined && !isCovered) return
    const approval = approvalOf(event)
    if (this.#approved !== undefined) this.#checkEffect(this.#approved, event.position, origin, approval)
    else if (approval !== undefined) this.#addFault(event.position, 'it names an approval that does not precede it')
    if (event.type === 'proposal-decided') this.#checkDecision(event.data, event.position, origin, state)
    else if (event.type === 'proposal-made' || event.type === 'approval-limit-used') {
      if (event.data.maker !== origin.actor) {
        this.#addFault(event.position, `its maker is ${event.data.maker}, but its actor ${origin.actor}`)
      }
    }
  }

  #checkEffect(
    approved: Approved,
    position: number,
    { actor, requestId }: Origin,
    approval: EventData<'balance-credited'>['approval'],
  ): void {
    const { proposal_id, approver, maker } = approved
    if (approval?.proposal_id !== proposal_id || requestId !== approved.requestId) {
      this.#addFault(approved.position, `${approved.missing} events of its effect are missing`)
      this.#approved = undefined
      return
    }
    if (actor !== maker) this.#addFault(position, `proposal ${proposal_id} was made by ${maker}, not by ${actor}`)
    if (approval.approved_by !== approver) {
      this.#addFault(position, `proposal ${proposal_id} was approved by ${approver}, not by ${approval.approved_by}`)
    }
    approved.missing -= 1
    if (approved.missing === 0) this.#approved = undefined
  }

  #checkDecision(
    { proposal_id, decision, decided_by, events }: EventData<'proposal-decided'>,
    position: number,
    { actor, requestId }: Origin,
    state: State,
  ): void {
    if (decided_by !== actor) this.#addFault(position, `it was decided by ${decided_by}, but its actor is ${actor}`)
    const maker = state.get(proposals, String(proposal_id))?.maker
    if (decision !== 'approved') {
      if (events !== 0) this.#addFault(position, `a proposal that is ${decision} has no effect`)
    } else if (maker !== undefined && events > 0) {
      this.#approved = { position, proposal_id, approver: decided_by, maker, requestId, missing: events }
    }
  }
}

const coveredTypes: ReadonlySet<string> = new Set([
  'proposal-made',
  'proposal-decided',
  'approval-limit-used',
  'balance-credited',
  'balance-debited',
  'salary-deposited',
  'bag-items-added',
  'card-granted',
])

const approvalOf = ({ data }: EventWithoutMovements): EventData<'balance-credited'>['approval'] =>
  'approval' in data ? data.approval : undefined
