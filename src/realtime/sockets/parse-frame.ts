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
