import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type ClientFrame, clientFrames, Echo } from '../../../schema/frames.ts'

const checks = Object.values(clientFrames).map((schema) => TypeCompiler.Compile(schema))
const echoing = TypeCompiler.Compile(Type.Object({ i: Echo }))

/** What a client sent; no `frame` where it is not understood, and then still what the answer to it echoes. */
export interface Heard {
  readonly frame: ClientFrame | undefined
  readonly i: Echo
}

export const notUnderstood: Heard = { frame: undefined, i: undefined }

export function readFrame(text: string): Heard {
  let sent: unknown
  try {
    sent = JSON.parse(text)
  } catch {
    return notUnderstood
  }
  for (const check of checks) if (check.Check(sent)) return { frame: sent, i: sent.i }
  return echoing.Check(sent) ? { frame: undefined, i: sent.i } : notUnderstood
}
