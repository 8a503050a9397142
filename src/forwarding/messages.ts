import { type Static, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { eventTypes } from '../../schema/events.ts'
import { Language } from '../../schema/languages.ts'
import type { ReceivableVerb } from '../ledger/executor/command.ts'
import { sha256 } from '../ledger/rules/hash.ts'

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

/** The longest frame that is accepted: an answer of an operator's route, with every character escaped, is below it. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024
/** Messages are put into one frame up to about this length. */
export const FRAME_LENGTH = 1024 * 1024

const HEADER_BYTES = 4

/** A frame: the length of what follows, as four bytes, then JSON. */
export function encodeFrame(json: string): Buffer {
  const length = Buffer.byteLength(json)
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length)
  frame.writeUInt32BE(length)
  frame.write(json, HEADER_BYTES)
  return frame
}

/** Joins JSON texts into frames `{"<name>":[…]}`, each of about `FRAME_LENGTH` or of one text. */
export function* encodeList(name: string, texts: readonly string[]): Generator<Buffer> {
  let start = 0
  let length = 0
  for (const [i, text] of texts.entries()) {
    if (i > start && length + text.length > FRAME_LENGTH) {
      yield encodeFrame(`{"${name}":[${texts.slice(start, i).join(',')}]}`)
      start = i
      length = 0
    }
    length += text.length
  }
  if (start < texts.length) yield encodeFrame(`{"${name}":[${texts.slice(start).join(',')}]}`)
}

/** Puts the chunks of a connection together into frames. */
export class FrameReader {
  readonly #maxBytes: () => number
  #chunks: Buffer[] = []
  #bytes = 0
  /** Bytes until the next frame can be read. */
  #needed = HEADER_BYTES

  /** `maxBytes` of a frame, asked for each. */
  constructor(maxBytes = () => MAX_FRAME_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** The messages that a chunk completes. Throws when a frame is too long or is not JSON. */
  *read(chunk: Buffer): Generator {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes < this.#needed) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    this.#chunks = []
    let start = 0
    for (;;) {
      const left = bytes.length - start
      const length = left < HEADER_BYTES ? 0 : bytes.readUInt32BE(start)
      if (length > this.#maxBytes()) throw new Error(`a frame of ${length} bytes is too long`)
      this.#needed = HEADER_BYTES + length
      if (left < this.#needed) break
      const end = start + this.#needed
      yield JSON.parse(bytes.toString('utf8', start + HEADER_BYTES, end))
      start = end
    }
    this.#bytes = bytes.length - start
    if (this.#bytes > 0) this.#chunks.push(bytes.subarray(start))
  }
}

/**
 * Instances with the same verbs, events and migrations understand each other's commands. `migration` is the last one that
 * this version has.
 */
export function versionOf(verbs: ReadonlyMap<string, ReceivableVerb>, migration: string): string {
  const inputs = Array.from(verbs.values(), ({ name, schema }) => JSON.stringify([name, schema])).toSorted()
  const events = Object.entries(eventTypes).map(([type, { version }]) => [type, version])
  return sha256(JSON.stringify([inputs, events, migration]))
}
