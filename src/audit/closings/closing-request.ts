import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordClosing } from '../../features/closings/record-closing.ts'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { findClosingFile } from './folder.ts'
import { hashFile } from './hashed-file.ts'
import type { MonthBooks } from './month-books.ts'
import { readSteps, type StepState } from './step-state.ts'

/** A request that is refused whatever the files say: none of them is read. With `running` a step is writing them. */
export const requestWithoutFiles = ({ month, last, hash }: MonthBooks, running: boolean): RecordClosing => ({
  month,
  position: last,
  hash,
  running,
  covered: { first: 0, last: 0 },
  done: [],
  failed: [],
  unchanged: false,
  files: [],
  checkpoint: null,
})

/**
 * What the folder of a month says about its closing, with the SHA-256 of each file as it is now. The verb that records
 * the closing decides about it. Whoever calls it holds the month's lock, until the verb has decided. A month that cannot be
 * closed has no file read.
 */
export async function readClosingRequest(folder: string, books: MonthBooks, publicKey: string): Promise<RecordClosing> {
  if (books.refusal !== null) return requestWithoutFiles(books, false)
  const run = readSteps(folder).filter((step) => step.state !== 'waiting')
  const made = run.flatMap(({ files }) => files)
  const hashes = await Promise.all(
    made.map(async ({ name }) => {
      const file = findClosingFile(folder, name)
      return { name, sha256: file === null ? '' : await hashFile(file.path) }
    }),
  )
  const [earliest] = run
  const covered = earliest === undefined ? { first: 0, last: 0 } : { first: earliest.first, last: earliest.last }
  const isOfOneKind = run.every(({ first, last }) => first === covered.first && last === covered.last)
  const unchanged = isOfOneKind && hashes.every(({ sha256 }, i) => sha256 === made[i]?.sha256)
  return {
    month: books.month,
    position: books.last,
    hash: books.hash,
    running: false,
    covered,
    done: run.filter(({ state }) => state === 'done').map(({ step }) => step),
    failed: run.filter(({ state }) => state === 'failed').map(({ step }) => step),
    unchanged,
    files: unchanged ? hashes : made.map(({ name, sha256 }) => ({ name, sha256 })),
    checkpoint: readSignedCheckpoint(folder, run, publicKey),
  }
}

/** Null before the step of the checkpoint, and for a text that this key did not sign. */
function readSignedCheckpoint(folder: string, run: readonly StepState[], publicKey: string) {
  if (!run.some(({ step, state }) => step === 'checkpoint' && state === 'done')) return null
  try {
    const text = readFileSync(join(folder, 'checkpoint.json'), 'utf8')
    const { position, hash, at, algorithm, public_key, signature } = readCheckpoint(text, publicKey)
    return { position, hash, at, algorithm, public_key, signature }
  } catch {
    return null
  }
}
