import { TypeCompiler } from '@sinclair/typebox/compiler'
import { type ClientFrame, clientFrames } from '../../schema/frames.ts'

const checks = Object.values(clientFrames).map((schema) => TypeCompiler.Compile(schema))

/** Reads what a client sent; undefined when it is not understood. */
export function readFrame(text: string): ClientFrame | undefined {
  let frame: unknown
  try {
    frame = JSON.parse(text)
  } catch {
    return undefined
  }
  for (const check of checks) if (check.Check(frame)) return frame
  return undefined
}
