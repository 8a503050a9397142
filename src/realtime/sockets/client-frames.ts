import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type ClientFrame, clientFrames, Echo } from '../../../schema/frames.ts'

const checks = Object.values(clientFrames).map((schema) => TypeCompiler.Compile(schema))
const echoCheck = TypeCompiler.Compile(Type.Object({ i: Echo }))

/** What a client sent; no `frame` where it is not understood, and then still what the answer to it echoes. */
export interface ParsedFrame {
  readonly frame: ClientFrame | undefined
  readonly i: Echo
}

export const invalidFrame: ParsedFrame = { frame: undefined, i: undefined }

export function parseFrame(text: string): ParsedFrame {
  let sent: unknown
  try {
    sent = JSON.parse(text)
  } catch {
    return invalidFrame
  }
  for (const check of checks) if (check.Check(sent)) return { frame: sent, i: sent.i }
  return echoCheck.Check(sent) ? { frame: undefined, i: sent.i } : invalidFrame
}
