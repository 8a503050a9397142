import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { errorCode } from '../../config/error-code.ts'
import { makeFolder } from '../../config/make-folder.ts'
import { type ClosingStep, closingSteps } from '../../features/closings/closing-steps.ts'

// Where the steps of a closing stand: one small file for each, beside the files that they made.

const Nullable = <T extends ReturnType<typeof Type.String> | typeof Progress>(schema: T) =>
  Type.Union([schema, Type.Null()])
const Progress = Type.Object({ events: Type.Integer(), of: Type.Integer() })

export const MadeFile = Type.Object({
  name: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})
export type MadeFile = Static<typeof MadeFile>

/** What a step says: a sentence, and a table with at most `MAX_ROWS` rows, as the rest is in its file. */
const StepResult = Type.Object({
  summary: Type.String(),
  columns: Type.Array(Type.String()),
  rows: Type.Array(Type.Array(Type.String())),
  /** Rows that are left out. */
  more: Type.Integer({ minimum: 0 }),
})
export type StepResult = Static<typeof StepResult>

const StoredState = Type.Object({
  state: Type.Union([Type.Literal('running'), Type.Literal('done'), Type.Literal('failed')]),
  made_by: Type.String(),
  /** ISO 8601, UTC. */
  started_at: Type.String(),
  /** The last sign of life while it runs; then its end. */
  heartbeat_at: Type.String(),
  /** The positions that it was made of. */
  first: Type.Integer(),
  last: Type.Integer(),
  progress: Nullable(Progress),
  result: Type.Union([StepResult, Type.Null()]),
  files: Type.Array(MadeFile),
  /** Why it did not come to an end. */
  error: Nullable(Type.String()),
})
export type StoredState = Static<typeof StoredState>

/** A step of a closing; `waiting` before it was run. */
export type StepState =
  | { readonly step: ClosingStep; readonly state: 'waiting' }
  | (Readonly<StoredState> & { readonly step: ClosingStep })

export const MAX_ROWS = 200
/** The process of a step that was not heard of for so long was ended. */
const MAX_SILENCE_MS = 30_000

/** A table of a result, of which the first rows are kept. */
export const tableOf = (
  summary: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): StepResult => ({
  summary,
  columns: [...columns],
  rows: rows.slice(0, MAX_ROWS).map((row) => [...row]),
  more: Math.max(0, rows.length - MAX_ROWS),
})

/** The eight steps of a month in their order. */
export const readSteps = (folder: string): readonly StepState[] => closingSteps.map((step) => readStep(folder, step))

export function readStep(folder: string, step: ClosingStep): StepState {
  const stored = readStored(join(folder, 'steps', `${step}.json`))
  if (stored === null) return { step, state: 'waiting' }
  const isLost = stored.state === 'running' && Date.now() - Date.parse(stored.heartbeat_at) > MAX_SILENCE_MS
  return { step, ...stored, ...(isLost && { state: 'failed', error: 'it was interrupted' }) }
}

export function writeStep(folder: string, step: ClosingStep, state: StoredState): void {
  const steps = join(folder, 'steps')
  makeFolder(steps)
  const path = join(steps, `${step}.json`)
  // Renamed, so that no reader sees half of it.
  // Flushed, so that after a power cut there is no empty file under its name.
  writeFileSync(`${path}.new`, JSON.stringify(state), { flush: true })
  renameSync(`${path}.new`, path)
}

function readStored(path: string): StoredState | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
  const stored = parseJson(text)
  return Value.Check(StoredState, stored) ? stored : null
}

/** Undefined for what is no JSON: a damaged file counts as none, and its step is run again. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
