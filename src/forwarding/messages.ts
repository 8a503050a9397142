import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Language } from '../../schema/languages.ts'

/** Changes whenever messages change their form or meaning. */
export const PROTOCOL = 1

/** What an instance says first. */
const Hello = Type.Object({
  protocol: Type.Integer(),
  /** The version of its verbs and events: only an instance of the same version understands its commands. */
  version: Type.String(),
  /** The writer that it means to reach: on its own ledger. */
  writer: Type.String(),
  /** What its verbs are configured with. */
  settings: Type.Unknown(),
})
export type Hello = Static<typeof Hello>

const Cause = Type.Object({
  actor: Type.String(),
  requestId: Type.String(),
  language: Type.Optional(Language),
  idempotency: Type.Union([
    Type.Null(),
    Type.Object({
      key: Type.String(),
      requestHash: Type.String(),
      discardRefusal: Type.Optional(Type.Boolean()),
    }),
  ]),
})

const SentCommand = Type.Object({
  /** Unique on the connection. */
  id: Type.Integer(),
  verb: Type.String(),
  input: Type.Unknown(),
  cause: Cause,
})
export type SentCommand = Static<typeof SentCommand>

/** To the writer. */
const Request = Type.Union([Type.Object({ commands: Type.Array(SentCommand) }), Type.Object({ hello: Hello })])

/** Why a command has no result; after `closed` and `overloaded` nothing was done. */
const FailureCode = Type.Union([
  Type.Literal('overloaded'),
  Type.Literal('unavailable'),
  Type.Literal('closed'),
  Type.Literal('bug'),
])
export type FailureCode = Static<typeof FailureCode>

const Answer = Type.Union([
  Type.Object({
    id: Type.Integer(),
    reply: Type.Object({ status: Type.Integer(), body: Type.String() }),
    isRepeat: Type.Boolean(),
    storedBytes: Type.Number(),
    position: Type.Integer(),
  }),
  Type.Object({ id: Type.Integer(), failure: FailureCode, message: Type.String() }),
])
export type Answer = Static<typeof Answer>

const Entry = Type.Object({
  position: Type.Integer(),
  type: Type.String(),
  version: Type.Integer(),
  data: Type.String(),
  movements: Type.Array(Type.Object({ debit: Type.String(), credit: Type.String(), amount: Type.Integer() })),
  actor: Type.String(),
  at: Type.Integer(),
  requestId: Type.String(),
  idempotencyKey: Type.Union([Type.String(), Type.Null()]),
  replyHash: Type.Union([Type.String(), Type.Null()]),
  hash: Type.String(),
})

/** From the writer. */
const Response = Type.Union([
  Type.Object({ answers: Type.Array(Answer) }),
  /** Committed events that are in force before the answers that follow. */
  Type.Object({ events: Type.Array(Entry) }),
  /** Nothing to say, but there. */
  Type.Object({ alive: Type.Literal(true) }),
  Type.Object({ welcome: Type.Literal(true) }),
  /** The hello is not accepted, and why. */
  Type.Object({ refused: Type.String() }),
  /** It is the writer no longer: what it has accepted is answered, and nothing more is. */
  Type.Object({ resigned: Type.Literal(true) }),
])
export type Response = Static<typeof Response>

export const requests = TypeCompiler.Compile(Request)
export const responses = TypeCompiler.Compile(Response)
