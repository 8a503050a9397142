import type { Context, Key, LedgerEvent, PlacedEvent, Refusal, State, Verb, WritableState } from '../rules/verb.ts'
import type { Reply } from '../storage/head.ts'

/** Who asks, in which request, and under which idempotency key. */
export interface Cause {
  /** `user:7`, `staff:ann` or `system`. One line of text. */
  readonly actor: string
  readonly requestId: string
  readonly idempotency: {
    readonly key: string
    readonly requestHash: string
    /** The hash that an older version gave the same request, where it differs. */
    readonly formerHash?: string | undefined
    /** A refusal is not remembered: whoever asks has no room left for it, and may not be refused before. */
    readonly forgetRefusal?: boolean
  } | null
}

/** How an answer or a refusal reads; pure, since the reply's hash goes on the ledger. */
export interface Presenter<Answer> {
  readonly answered: (answer: Answer) => Reply
  readonly refused: (refusal: Refusal) => Reply
}

/** A verb with its input, ready to be run. */
export interface Command {
  readonly cause: Cause
  readonly reads: readonly Key[]
  follow(state: State): readonly Key[]
  decide(state: State, context: Context): readonly LedgerEvent[] | Refusal
  note(state: WritableState, context: Context): void
  reply(state: State, events: readonly PlacedEvent[], context: Context): Reply
  refused(refusal: Refusal): Reply
}

const none: readonly Key[] = []

export function command<Input, Answer>(
  verb: Verb<Input, Answer>,
  input: Input,
  cause: Cause,
  presenter: Presenter<Answer>,
): Command {
  return {
    cause,
    reads: verb.reads(input),
    follow: (state) => verb.follow?.(state, input) ?? none,
    decide: (state, context) => verb.decide(state, input, context),
    note: (state, context) => verb.note?.(state, input, context),
    reply: (state, events, context) => presenter.answered(verb.answer(state, input, events, context)),
    refused: (refusal) => presenter.refused(refusal),
  }
}
