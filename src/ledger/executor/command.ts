import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { Language, LocalizedText } from '../../../schema/languages.ts'
import type { LedgerEvent, PositionedEvent } from '../rules/event.ts'
import type { Key, State, WritableState } from '../rules/projection.ts'
import type { Context, Refusal, Verb } from '../rules/verb.ts'
import type { Reply } from '../storage/event-hash.ts'

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
interface Call {
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

/** The schema of a verb's input; compiled when the first input of another process arrives. */
export interface InputSchema<Input> {
  readonly schema: TSchema
  readonly accepts: (input: unknown) => input is Input
}

export function inputSchema<Schema extends TSchema>(schema: Schema): InputSchema<Static<Schema>> {
  let compiled: TypeCheck<Schema> | undefined
  return {
    schema,
    accepts: (input): input is Static<Schema> => (compiled ??= TypeCompiler.Compile(schema)).Check(input),
  }
}

/** The schema of `expected` in the input of a verb that looks at the version of what it changes. */
export const ExpectedVersion = Type.Optional(Type.Union([Type.Null(), Type.String()]))

type SuccessStatus = 200 | 201 | 202

/** How the answer of a verb becomes a reply. Pure, since the reply's hash is on the ledger. */
export interface Presentation<Answer> {
  readonly status?: SuccessStatus | ((answer: Answer) => SuccessStatus)
  readonly message?: LocalizedText
  /** `language` is that of the request. */
  readonly body?: (answer: Answer, language: Language) => unknown
  /** With what an answer refuses the request although its events are written; null for all others. */
  readonly refusal?: (answer: Answer) => Refusal | null
}

/** A presentation that says what was done and shows nothing of the answer. */
export const messageOnly = (message: LocalizedText): Presentation<unknown> => ({
  body: (_answer, language) => ({ meta: { message: message[language] } }),
})

/** Turns the refusal of a request's command into a reply. */
export type PresentRefusal = (refusal: Refusal, cause: Cause) => Reply

/** A verb under the name by which every instance knows it: its commands can be sent to another one. */
export interface RegisteredVerb<Input> {
  readonly name: string
  readonly schema: TSchema
  /** The codes that it can refuse with. */
  readonly refusals: readonly string[]
  command(input: Input, cause: Cause, presentRefusal: PresentRefusal): Command
  /** As `command`, with an input from another process; null when the schema does not accept it. */
  receive(input: unknown, cause: Cause, presentRefusal: PresentRefusal): Command | null
}

/** Any registered verb, as far as it can be called without knowing its input. */
export type ReceivableVerb = Pick<RegisteredVerb<never>, 'name' | 'schema' | 'receive'>

export function registerVerb<Input, Answer>(
  name: string,
  { schema, accepts }: InputSchema<NoInfer<Input>>,
  verb: Verb<Input, Answer>,
  presentation: Presentation<Answer> = {},
): RegisteredVerb<Input> {
  return registerCallerVerb(name, { schema, accepts }, verb.refusals, () => verb, presentation)
}

/** As `registerVerb`, of a verb that is made for its caller, such as `staff:ann`. */
export function registerCallerVerb<Input, Answer>(
  name: string,
  { schema, accepts }: InputSchema<NoInfer<Input>>,
  refusals: readonly string[],
  verbOf: (actor: string) => Verb<Input, Answer>,
  presentation: Presentation<Answer>,
): RegisteredVerb<Input> {
  const create = (input: Input, cause: Cause, presentRefusal: PresentRefusal): Command => {
    const presenter = {
      presentResult: (answer: Answer) => {
        const refusal = presentation.refusal?.(answer) ?? null
        return refusal === null
          ? presentResult(presentation, answer, cause.language ?? 'en')
          : presentRefusal(refusal, cause)
      },
      presentRefusal: (refusal: Refusal) => presentRefusal(refusal, cause),
    }
    return command(verbOf(cause.actor), input, cause, presenter, { verb: name, input })
  }
  return {
    name,
    schema,
    refusals,
    command: create,
    receive: (input, cause, presentRefusal) => (accepts(input) ? create(input, cause, presentRefusal) : null),
  }
}

function presentResult<Answer>(
  { status: given = 200, message, body }: Presentation<Answer>,
  answer: Answer,
  language: Language,
): Reply {
  const status = typeof given === 'function' ? given(answer) : given
  const meta = message === undefined ? {} : { meta: { message: message[language] } }
  return { status, body: JSON.stringify(body?.(answer, language) ?? { data: answer, ...meta }) }
}

/** A verb that is made for each command, from what its route has prepared in addition to what the client sent. */
export function preparedVerb<Prepared, Input, Answer, Codes extends readonly string[]>(
  refusals: Codes,
  create: (prepared: Prepared) => Verb<Input, Answer, Codes>,
): Verb<{ readonly prepared: Prepared; readonly request: Input }, Answer, Codes> {
  return {
    refusals,
    reads: ({ prepared, request }) => create(prepared).reads(request),
    dependentReads: (state, { prepared, request }) => create(prepared).dependentReads?.(state, request) ?? [],
    decide: (state, { prepared, request }, context) => create(prepared).decide(state, request, context),
    sideWrites: (state, { prepared, request }, context) => create(prepared).sideWrites?.(state, request, context),
    result: (state, { prepared, request }, events, context) => create(prepared).result(state, request, events, context),
  }
}
