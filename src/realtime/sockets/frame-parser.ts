import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { Channel, type ClientFrame, clientFrames, Echo } from '../../../schema/frames.ts'

const frameChecks = Object.values(clientFrames).map((schema) => TypeCompiler.Compile(schema))
const echoCheck = TypeCompiler.Compile(Type.Object({ i: Echo }))
const channelCheck = TypeCompiler.Compile(Type.Object({ ch: Channel }))

/** A client's frame; undefined when it is invalid. `i` and `ch` are kept where possible: the error carries them. */
export interface ParsedFrame {
  readonly frame: ClientFrame | undefined
  readonly i: Echo
  readonly ch?: string
}

export const invalidFrame: ParsedFrame = { frame: undefined, i: undefined }

export function parseFrame(text: string): ParsedFrame {
  let json: unknown
  try {
    json = withoutNulls(JSON.parse(text))
  } catch {
    return invalidFrame
  }
  for (const check of frameChecks) if (check.Check(json)) return { frame: json, i: json.i }
  const i = echoCheck.Check(json) ? json.i : undefined
  return channelCheck.Check(json) ? { frame: undefined, i, ch: json.ch } : { frame: undefined, i }
}

/** No field of a frame, or of an object in one of its lists, may be null: a null is a field that the client left out. */
function withoutNulls(json: unknown): unknown {
  if (!isObject(json)) return json
  const fields = Object.entries(withoutNullFields(json))
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map((item) => (isObject(item) ? withoutNullFields(item) : item)) : value,
    ]),
  )
}

const withoutNullFields = (json: object): object =>
  Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null))

const isObject = (json: unknown): json is object => typeof json === 'object' && json !== null && !Array.isArray(json)

/** Values of the length field that announce a longer one, and its bytes. */
const EXTENDED_LENGTHS: ReadonlyMap<number, number> = new Map([
  [126, 2],
  [127, 8],
])
const MASK_BYTES = 4

export const CLOSE = 0x8
export const PONG = 0xa

/**
 * Finds the frames in a client's byte stream (RFC 6455, 5.2). `ws` reports whole messages, pings and pongs only, so a
 * client could send empty fragments without end.
 */
export class FrameScanner {
  readonly #onFrame: (opcode: number) => boolean
  #opcode: number | undefined
  /** Bytes of the extended length still to come. */
  #lengthBytes = 0
  #length = 0
  #maskBytes = 0
  /** Bytes of mask and payload still to come. */
  #remaining = 0

  /** `onFrame` is called after the first two bytes of each frame; returning false ends the scan. */
  constructor(onFrame: (opcode: number) => boolean) {
    this.#onFrame = onFrame
  }

  /** Scans the next bytes; false when `onFrame` ended the scan. */
  scan(chunk: Buffer): boolean {
    let at = 0
    while (at < chunk.length) {
      if (this.#remaining > 0) {
        const skipped = Math.min(this.#remaining, chunk.length - at)
        this.#remaining -= skipped
        at += skipped
        continue
      }
      const byte = chunk[at] ?? 0
      at += 1
      if (this.#lengthBytes > 0) this.#extendLength(byte)
      else if (this.#opcode === undefined) this.#opcode = byte & 0x0f
      else if (!this.#startFrame(this.#opcode, byte)) return false
    }
    return true
  }

  #startFrame(opcode: number, secondByte: number): boolean {
    this.#opcode = undefined
    const length = secondByte & 0x7f
    this.#maskBytes = secondByte & 0x80 ? MASK_BYTES : 0
    this.#lengthBytes = EXTENDED_LENGTHS.get(length) ?? 0
    this.#length = 0
    if (this.#lengthBytes === 0) this.#remaining = this.#maskBytes + length
    return this.#onFrame(opcode)
  }

  #extendLength(byte: number): void {
    this.#length = this.#length * 256 + byte
    this.#lengthBytes -= 1
    if (this.#lengthBytes === 0) this.#remaining = this.#maskBytes + this.#length
  }
}
