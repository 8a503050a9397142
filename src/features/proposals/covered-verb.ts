import type { EventData } from '../../../schema/events.ts'
import type { LedgerEvent } from '../../ledger/rules/event.ts'
import type { Key, State } from '../../ledger/rules/projection.ts'
import type { Context, Refusal, Verb } from '../../ledger/rules/verb.ts'

/** How much of a limit something takes, in smallest units from 1. */
export type LimitedAmount = EventData<'approval-limit-used'>['amounts'][number]

export type LimitName = LimitedAmount['limit']

/** What a member of staff may move alone in 24 hours, in smallest units; 0 for what is not named. */
export type ApprovalLimits = NonNullable<EventData<'approvals-set'>['limits']>

/** What a command is about, for those who decide. */
interface Description {
  readonly action: EventData<'proposal-made'>['action']
  /** Whom it concerns, such as `user:7`. */
  readonly subject: string
  readonly reason: string | null
}

/** What a command gives that is in no account. `account` names it as if it were, such as `user:7:cards`. */
export interface Grant {
  readonly limit: 'cards' | 'bag'
  /** What it takes of the limit: cards, or diamonds of value. */
  readonly amount: bigint
  readonly account: string
  readonly before: number
  readonly quantity: number
}

/** What the catalogue says of what a command grants, by which it is approved. */
export type Terms = EventData<'proposal-made'>['terms']

/** A row of a file that a command leaves out, and why. */
export type UnpaidRow = EventData<'proposal-decided'>['not_paid'][number]

/** What a command would do now, as it is proposed. */
export interface Proposable<Input> {
  /** A file has only the rows that can be paid. */
  readonly input: Input
  /** The rows of a file that cannot. */
  readonly notPaid: readonly UnpaidRow[]
  /** How many rows were given; 1 where there is no file. */
  readonly rowCount: number
}

/** A verb of staff that moves value. It has neither dependent reads nor side writes. */
export interface CoveredVerb<Input, Answer, Codes extends readonly string[] = readonly string[]> {
  readonly verb: Pick<Verb<Input, Answer, Codes>, 'refusals' | 'reads' | 'decide' | 'result'>
  readonly describe: (input: Input) => Description
  readonly grant?: (state: State, input: Input) => Grant | null
  readonly terms?: (state: State, input: Input) => Terms
  /** Where not all of the input is proposed. */
  readonly proposable?: (state: State, input: Input) => Proposable<Input>
  /** Why it cannot be proposed, though it may be done within the limits. */
  readonly proposalError?: (state: State, input: Input, context: Context) => Refusal | null
}

/** A covered verb with its input. */
export interface CoveredCall {
  readonly description: Description
  readonly reads: readonly Key[]
  decide(state: State, context: Context): readonly LedgerEvent[] | Refusal
  /** Null where all that it gives is in accounts. */
  grant(state: State): Grant | null
  terms(state: State): Terms
  proposable(state: State): Proposable<unknown>
  /** Null where it can be proposed. */
  proposalError(state: State, context: Context): Refusal | null
}

export const coveredCall = <Input, Answer>(
  { verb, describe, grant, terms, proposable, proposalError }: CoveredVerb<Input, Answer>,
  input: Input,
): CoveredCall => ({
  description: describe(input),
  reads: verb.reads(input),
  decide: (state, context) => verb.decide(state, input, context),
  grant: (state) => grant?.(state, input) ?? null,
  terms: (state) => terms?.(state, input) ?? {},
  proposable: (state) => proposable?.(state, input) ?? { input, notPaid: [], rowCount: 1 },
  proposalError: (state, context) => proposalError?.(state, input, context) ?? null,
})

/** The call that a proposal asks for; null when this version has no such verb, or it does not accept the input any more. */
export type FindCoveredCall = (verb: string, input: unknown) => CoveredCall | null
