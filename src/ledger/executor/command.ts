import type { Language } from '../../../schema/languages.ts'
import type { LedgerEvent, PositionedEvent } from '../rules/event.ts'
import type { Key } from '../rules/projection.ts'
import type { State, WritableState } from '../rules/state.ts'
import type { Context, Refusal, Verb } from '../rules/verb.ts'
import type { Reply } from '../storage/head.ts'

/** Who sends a command, in which request, and under which idempotency key. */
export interface Cause {
  /** `user:7`, `staff:ann` or `system`. One line of text. */
  readonly actor: string
  readonly requestId: string
  /** The language of the sentences in its reply; English where nobody reads them. */
  readonly language?: Language | undefined
  readonly idempotency: {
    readonly key: string
    readonly requestHash: string
    /** Do not store a refusal: the caller's allowance of stored bytes is used up. */
    readonly discardRefusal?: boolean
  } | null
}

/** Turns results and refusals into replies. Pure, since the reply's hash is on the ledger. */
export interface Presenter<Result> {
  readonly presentResult: (result: Result) => Reply
  readonly presentRefusal: (refusal: Refusal) => Reply
}

/** A registered verb, by its name, and its input. */
export interface Call {
  readonly verb: string
  readonly input: unknown
}

/** A verb with its input, ready to run. */
export interface Command {
  readonly cause: Cause
  /** By which another instance can run the command; null for a verb that is not registered. */
  readonly call: Call | null
  readonly reads: readonly Key[]
  dependentReads(state: State): readonly Key[]
  decide(state: State, context: Context): readonly LedgerEvent[] | Refusal
  sideWrites(state: WritableState, context: Context): void
  reply(state: State, events: readonly PositionedEvent[], context: Context): Reply
  refusalReply(refusal: Refusal): Reply
}

const noKeys: readonly Key[] = []

export function command<Input, Result>(
  verb: Verb<Input, Result>,
  input: Input,
  cause: Cause,
  presenter: Presenter<Result>,
  call: Call | null = null,
): Command {
  return {
    cause,
    call,
    reads: verb.reads(input),
    dependentReads: (state) => verb.dependentReads?.(state, input) ?? noKeys,
    decide: (state, context) => verb.decide(state, input, context),
    sideWrites: (state, context) => verb.sideWrites?.(state, input, context),
    reply: (state, events, context) => presenter.presentResult(verb.result(state, input, events, context)),
    refusalReply: (refusal) => presenter.presentRefusal(refusal),
  }
}
