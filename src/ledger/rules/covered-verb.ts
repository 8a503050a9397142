import type { EventData } from '../../../schema/events.ts'
import type { LedgerEvent } from './event.ts'
import type { Key } from './projection.ts'
import type { State } from './state.ts'
import type { Context, Refusal, Verb } from './verb.ts'

/** How much of a limit something takes, in smallest units from 1. */
export type LimitedAmount = EventData<'approval-limit-used'>['amounts'][number]

export type LimitName = LimitedAmount['limit']

/** What a member of staff may move alone in 24 hours, in smallest units; 0 for what is not named. */
export type ApprovalLimits = NonNullable<EventData<'approvals-set'>['limits']>

/** What a command is about, for those who decide. */
export interface Description {
  readonly action: EventData<'proposal-made'>['action']
  /** Whom it concerns, such as `user:7`. */
  readonly subject: string
  readonly reason: string | null
}

/** What a command gives that is in no account. `account` names it as if it were, such as `user:7:cards`. */
export interface Grant {
  readonly limit: 'cards' | 'bag'
  readonly account: string
  readonly before: number
  readonly quantity: number
}

/** A row of a file that a command leaves out, and why. */
export type UnpaidRow = NonNullable<EventData<'proposal-decided'>['not_paid']>[number]

/** A verb of staff that moves value. It has neither dependent reads nor side writes. */
export interface CoveredVerb<Input, Answer, Codes extends readonly string[] = readonly string[]> {
  readonly verb: Pick<Verb<Input, Answer, Codes>, 'refusals' | 'reads' | 'decide' | 'result'>
  readonly describe: (input: Input) => Description
  readonly grant?: (state: State, input: Input) => Grant
  /** Of a file: the rows that would not be paid now. */
  readonly notPaid?: (state: State, input: Input) => readonly UnpaidRow[]
}

/** A covered verb with its input. */
export interface CoveredCall {
  readonly description: Description
  readonly reads: readonly Key[]
  decide(state: State, context: Context): readonly LedgerEvent[] | Refusal
  /** Null where all that it gives is in accounts. */
  grant(state: State): Grant | null
  /** Null where there is no file. */
  notPaid(state: State): readonly UnpaidRow[] | null
}

export const coveredCall = <Input, Answer>(
  { verb, describe, grant, notPaid }: CoveredVerb<Input, Answer>,
  input: Input,
): CoveredCall => ({
  description: describe(input),
  reads: verb.reads(input),
  decide: (state, context) => verb.decide(state, input, context),
  grant: (state) => grant?.(state, input) ?? null,
  notPaid: (state) => notPaid?.(state, input) ?? null,
})

/** The call that a proposal asks for; null when this version has no such verb, or it does not accept the input any more. */
export type FindCoveredCall = (verb: string, input: unknown) => CoveredCall | null
