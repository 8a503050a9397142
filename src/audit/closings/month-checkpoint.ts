import { readFileSync } from 'node:fs'
import type { Checkpoint } from '../../../schema/finance.ts'
import { micros } from '../../db/queries/micros.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { findClosingFile } from './folder.ts'
import type { StepOptions } from './step-task.ts'

/** The checkpoint of the month: export and checkpoint have the same one, whichever was made first. */
export async function monthCheckpoint({
  db,
  books,
  folder,
  signer,
}: Pick<StepOptions, 'db' | 'books' | 'folder' | 'signer'>): Promise<Checkpoint> {
  const { hash, signed_at } = await db
    .selectFrom('ledger_events')
    .select('hash')
    .select(micros('clock_timestamp()').as('signed_at'))
    .where('position', '=', books.last)
    .executeTakeFirstOrThrow()
  const made = findMadeCheckpoint(folder, signer.publicKey)
  if (made?.position === books.last && made.hash === hash) return made
  return signer.sign({ position: books.last, hash, at: isoMicros(signed_at) })
}

/** Of the file of the checkpoint or else of the manifest; null before either, and for one that this key did not sign. */
function findMadeCheckpoint(folder: string, publicKey: string): Checkpoint | null {
  for (const [name, field] of [
    ['checkpoint.json', null],
    ['manifest.json', 'checkpoint'],
  ] as const) {
    const path = findClosingFile(folder, name)?.path
    if (path === undefined) continue
    try {
      const stored: unknown = JSON.parse(readFileSync(path, 'utf8'))
      return readCheckpoint(JSON.stringify(field === null ? stored : Object(stored)[field]), publicKey)
    } catch {
      // A damaged one is written anew.
    }
  }
  return null
}
