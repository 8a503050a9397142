import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type ClientFrame, clientFrames, Echo } from '../../../schema/frames.ts'

const frameChecks = Object.values(clientFrames).map((schema) => TypeCompiler.Compile(schema))
const echoCheck = TypeCompiler.Compile(Type.Object({ i: Echo }))

/** A client's frame; undefined when it is invalid. `i` is kept where possible, so that the error echoes it. */
export interface ParsedFrame {
  readonly frame: ClientFrame | undefined
  readonly i: Echo
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
  return echoCheck.Check(json) ? { frame: undefined, i: json.i } : invalidFrame
}

/** No field of a frame may be null: a null is a field that the client left out. */
function withoutNulls(json: unknown): unknown {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return json
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null))
}
