import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { EventData, EventType } from '../../../schema/events.ts'
import { decorations } from '../../features/gifts/decoration.ts'
import { priceChange } from '../../features/gifts/define-decoration.ts'
import { type Proposal, proposalContents, proposals } from '../../features/proposals/proposal.ts'
import { plainActor } from '../../http/auth/caller.ts'
import { storedName } from '../../language/names.ts'
import { currencyOf, type Movement } from '../../ledger/rules/account.ts'
import type { EventWithoutMovements } from '../../ledger/rules/event.ts'
import type { State } from '../../ledger/rules/projection.ts'
import { hasValues } from '../../ledger/rules/stored-values.ts'

/** By whom, and in which request, an event was caused, and what it moved. */
interface Origin {
  readonly actor: string
  readonly requestId: string
  readonly movements: readonly Movement[]
}

type Decided = EventData<'proposal-decided'>
type ApprovalOfEvent = EventData<'balance-credited'>['approval']

/** An approval whose effect is to follow. */
interface Approved {
  readonly position: number
  readonly approver: string
  readonly proposal: Proposal
  readonly effects: Decided['effects']
  readonly requestId: string
  /** Rows of a salary file that were proposed, as `rowOf` writes them; null of anything else. */
  readonly rows: ReadonlySet<string> | null
  /** Events of the effect that have not come yet. */
  missing: number
  /** What the events so far moved: by account, and by limit. */
  readonly changes: Map<string, bigint>
  readonly sums: Map<string, bigint>
}

/**
 * Checks that every approval is by another person than the maker, and followed by its effect: in the same command, as its
 * maker, naming who approved it, moving what the approval says, and in each currency what the proposal says, or less where
 * rows of a file were left out. No event claims an approval that is not there. That a closed proposal is not decided is a rule of the events themselves.
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
    if (this.#approved !== undefined) this.#checkEffect(this.#approved, event, origin, approval, state)
    else if (approval !== undefined) this.#addFault(event.position, 'it names an approval that does not precede it')
    if (event.type === 'proposal-decided') this.#checkDecision(event.data, event.position, origin, state)
    else if (event.type === 'proposal-made') {
      const { maker } = event.data
      if (maker !== origin.actor) this.#addFault(event.position, makerFault(maker, origin.actor))
    } else if (event.type === 'approval-limit-used') {
      const { maker } = event.data
      if (maker !== origin.actor) this.#addFault(event.position, makerFault(maker, origin.actor))
    }
  }

  /** After the last event of the ledger. */
  finish(): void {
    if (this.#approved !== undefined) this.#addMissing(this.#approved)
    this.#approved = undefined
  }

  #addMissing({ position, missing }: Approved): void {
    this.#addFault(position, `${missing} events of its effect are missing`)
  }

  #checkEffect(
    approved: Approved,
    event: EventWithoutMovements,
    { actor, requestId, movements }: Origin,
    approval: ApprovalOfEvent,
    state: State,
  ): void {
    const { approver, proposal } = approved
    const { proposal_id, maker, action } = proposal
    const { position } = event
    if (approval?.proposal_id !== proposal_id || requestId !== approved.requestId) {
      this.#addMissing(approved)
      this.#approved = undefined
      return
    }
    if (actor !== maker) this.#addFault(position, `proposal ${proposal_id} was made by ${maker}, not by ${actor}`)
    if (approval.approved_by !== approver) {
      this.#addFault(position, `proposal ${proposal_id} was approved by ${approver}, not by ${approval.approved_by}`)
    }
    if (event.type !== effectTypes[action]) {
      this.#addFault(position, `proposal ${proposal_id} is of the action ${action}, which makes no ${event.type}`)
    }
    if (event.type === 'salary-deposited') {
      if (proposal.subject !== `period:${event.data.period}`) {
        this.#addFault(position, `proposal ${proposal_id} is for ${proposal.subject}, not for ${event.data.period}`)
      }
      if (approved.rows?.has(rowOf(event.data)) === false) {
        this.#addFault(position, `proposal ${proposal_id} has no such row of user ${event.data.user_id}`)
      }
    }
    const { valid_days } = proposal.terms
    if (event.type === 'card-granted' && event.data.valid_days !== valid_days) {
      this.#addFault(position, `proposal ${proposal_id} is of cards of ${valid_days} days`)
    }
    if (event.type === 'decoration-defined' && changesMoreThanPrice(event.data, state)) {
      this.#addFault(position, `proposal ${proposal_id} is of the price of gift ${event.data.decoration_id} alone`)
    }
    addChanges(approved, event, movements, state)
    approved.missing -= 1
    if (approved.missing > 0) return
    this.#checkChanges(approved)
    this.#approved = undefined
  }

  #checkChanges({ position, proposal, effects, changes, sums }: Approved): void {
    const said = new Map(effects.map(({ account, before, after }) => [account, BigInt(after) - BigInt(before)]))
    for (const account of new Set([...said.keys(), ...changes.keys()])) {
      const change = changes.get(account) ?? 0n
      const expected = said.get(account) ?? 0n
      if (change !== expected) {
        this.#addFault(position, `its effect changes ${account} by ${change}, but the approval says ${expected}`)
      }
    }
    const { amounts, proposal_id, action, subject } = proposal
    if (action !== 'salary_file' && !Array.from(changes.keys()).some((account) => account.startsWith(`${subject}:`))) {
      this.#addFault(position, `its effect moves nothing of ${subject}, whom proposal ${proposal_id} is for`)
    }
    const proposed = new Map<string, bigint>(amounts.map(({ limit, amount }) => [limit, BigInt(amount)]))
    for (const limit of new Set([...proposed.keys(), ...sums.keys()])) {
      const sum = sums.get(limit) ?? 0n
      const amount = proposed.get(limit) ?? 0n
      // A salary file pays those who can be paid when it is approved, and bags may hold less then.
      if (action === 'salary_file' || action === 'price_raise' ? sum <= amount : sum === amount) continue
      this.#addFault(position, `its effect takes ${sum} of ${limit}, but proposal ${proposal_id} is of ${amount}`)
    }
  }

  #checkDecision(
    { proposal_id, decision, decided_by, effects, events }: Decided,
    position: number,
    { actor, requestId }: Origin,
    state: State,
  ): void {
    if (decided_by !== actor) this.#addFault(position, `it was decided by ${decided_by}, but its actor is ${actor}`)
    if (decision !== 'approved') {
      if (events !== 0) this.#addFault(position, `a proposal that is ${decision} has no effect`)
      return
    }
    const proposal = state.get(proposals, String(proposal_id))
    // One that does not exist, and one approved by exactly its maker, break the rules of the events.
    if (proposal === undefined) return
    const { maker } = proposal
    if (maker !== decided_by && plainActor(maker) === plainActor(decided_by)) {
      this.#addFault(position, `it was approved by ${decided_by}, who is its maker, ${maker}`)
    }
    if (events === 0) {
      this.#addFault(position, 'its effect is missing')
      return
    }
    const input = state.get(proposalContents, String(proposal_id))?.input
    this.#approved = {
      position,
      approver: decided_by,
      proposal,
      effects,
      requestId,
      rows: salaryFile.Check(input) ? new Set(input.deposits.map(rowOf)) : null,
      missing: events,
      changes: new Map(),
      sums: new Map(),
    }
  }
}

const salaryRow = Type.Object({
  user_id: Type.Integer(),
  dollars: Type.Integer(),
  agent_dollars: Type.Integer(),
  target: Type.Integer(),
})
const salaryFile = TypeCompiler.Compile(Type.Object({ deposits: Type.Array(salaryRow) }))

const rowOf = ({ user_id, dollars, agent_dollars, target }: Static<typeof salaryRow>): string =>
  [user_id, dollars, agent_dollars, target].join()

const coveredTypes: ReadonlySet<string> = new Set([
  'proposal-made',
  'proposal-decided',
  'approval-limit-used',
  'balance-credited',
  'balance-debited',
  'salary-deposited',
  'bag-items-added',
  'card-granted',
  'decoration-defined',
])

/** The events that the effect of an action has. */
const effectTypes = {
  credit: 'balance-credited',
  debit: 'balance-debited',
  room_debit: 'balance-debited',
  salary_file: 'salary-deposited',
  bag: 'bag-items-added',
  cards: 'card-granted',
  price_raise: 'decoration-defined',
} as const satisfies Readonly<Record<Proposal['action'], EventType>>

const makerFault = (maker: string, actor: string): string => `its maker is ${maker}, but its actor ${actor}`

function changesMoreThanPrice(data: EventData<'decoration-defined'>, state: State): boolean {
  const { price: _price, approval: _approval, name, ...others } = data
  const before = state.get(decorations, String(data.decoration_id))
  return before === undefined || !hasValues(before, { ...others, ...storedName(name) })
}

/** Adds what an event of the effect moved. Cards and gifts in bags are in no account, and counted as if they were. */
function addChanges(
  approved: Approved,
  event: EventWithoutMovements,
  movements: readonly Movement[],
  state: State,
): void {
  const { changes, sums, proposal } = approved
  const take = (limit: string, amount: bigint): void => void sums.set(limit, (sums.get(limit) ?? 0n) + amount)
  const add = (account: string, amount: bigint): void =>
    void changes.set(account, (changes.get(account) ?? 0n) + amount)
  for (const { debit, credit, amount } of movements) {
    add(debit, -BigInt(amount))
    add(credit, BigInt(amount))
    take(currencyOf(debit), BigInt(amount))
  }
  const { type, data } = event
  if (type === 'card-granted') {
    add(`user:${data.user_id}:cards`, 1n)
    take('cards', 1n)
  } else if (type === 'bag-items-added') {
    add(`user:${data.user_id}:bag:${data.decoration_id}`, BigInt(data.quantity))
    take('bag', BigInt(data.quantity) * BigInt(proposal.terms.price ?? 0))
  } else if (type === 'decoration-defined') {
    const change = priceChange(state, data)
    if (change === null) return
    add(change.account, BigInt(change.quantity))
    take(change.limit, change.amount)
  }
}

const approvalOf = ({ data }: EventWithoutMovements): ApprovalOfEvent =>
  'approval' in data ? data.approval : undefined
