import { writeHashed } from '../hashed-file.ts'
import { signManifest } from '../manifest.ts'
import { monthCheckpoint } from '../month-checkpoint.ts'
import type { MadeFile } from '../step-state.ts'
import type { StepOptions } from '../step-task.ts'

/** Writes what says of which positions the files of an export were made, signed, beside them. */
export async function writeManifest(files: readonly MadeFile[], options: StepOptions): Promise<MadeFile> {
  const { books, folder, signer, madeBy, signal } = options
  const { month, first, last, first_at, last_at } = books
  const manifest = signManifest(
    {
      month,
      from: first,
      to: last,
      from_at: first_at,
      to_at: last_at,
      files: [...files],
      checkpoint: await monthCheckpoint(options),
      made_by: madeBy,
      made_at: new Date().toISOString(),
    },
    signer,
  )
  signal.throwIfAborted()
  return writeHashed(folder, 'manifest.json', `${JSON.stringify(manifest, null, 2)}\n`)
}
