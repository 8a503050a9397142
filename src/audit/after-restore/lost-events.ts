import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { eventTypes } from '../../../schema/events.ts'
import { errorCode } from '../../config/error-code.ts'
import { type Manifest, parseManifest } from '../closings/manifest.ts'

const eventOf = <T extends string, Data extends TSchema>(type: T, { data }: { readonly data: Data }) =>
  Type.Object({ position: Type.Integer(), type: Type.Literal(type), at: Type.String(), actor: Type.String(), data })
const LostEvent = Type.Union([
  eventOf('withdrawal-requested', eventTypes['withdrawal-requested']),
  eventOf('withdrawal-status-changed', eventTypes['withdrawal-status-changed']),
  eventOf('user-forgotten', eventTypes['user-forgotten']),
  eventOf('sessions-revoked', eventTypes['sessions-revoked']),
  eventOf('staff-sessions-revoked', eventTypes['staff-sessions-revoked']),
])
const lostEvent = TypeCompiler.Compile(LostEvent)

/** Something that has to be done again, of which the ledger knows nothing any more. */
export type LostEvent = Static<typeof LostEvent>

/** The export of a month that covers positions beyond the end of the ledger. */
export interface LostExport {
  readonly folder: string
  readonly manifest: Manifest
}

/** The exports in the folder of closings that cover what comes after a position. */
export const findLostExports = (closings: string, position: number): readonly LostExport[] =>
  foldersIn(closings).flatMap((folder) => {
    const manifest = readManifest(folder)
    return manifest !== null && manifest.to > position ? [{ folder, manifest }] : []
  })

/** What an export has after a position, in order, as far as it has to be done again. */
export async function readLostEvents({ folder }: LostExport, position: number): Promise<readonly LostEvent[]> {
  const found: LostEvent[] = []
  for await (const line of createInterface({ input: createReadStream(join(folder, 'events.jsonl')) })) {
    // Most events of a month are still there.
    if (Number(/^\{"position":(\d+)/.exec(line)?.[1] ?? 0) <= position) continue
    const event: unknown = JSON.parse(line)
    if (lostEvent.Check(event)) found.push(event)
  }
  return found
}

function foldersIn(closings: string): readonly string[] {
  try {
    const entries = readdirSync(closings, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() ? [join(closings, entry.name)] : [])).toSorted()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Null where there is none: an export that did not end has no manifest yet. */
function readManifest(folder: string): Manifest | null {
  try {
    return parseManifest(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new Error(`${folder}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
