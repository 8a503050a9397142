import { writeHashed } from '../hashed-file.ts'
import { monthCheckpoint } from '../month-checkpoint.ts'
import { tableOf } from '../step-state.ts'
import type { StepOptions, StepOutcome } from '../step-task.ts'

/** A checkpoint of the month's last event, which the next closing begins from. */
export async function checkpointStep(options: StepOptions): Promise<StepOutcome> {
  const { folder, signal } = options
  const checkpoint = await monthCheckpoint(options)
  signal.throwIfAborted()
  const file = await writeHashed(folder, 'checkpoint.json', `${JSON.stringify(checkpoint, null, 2)}\n`)
  const { position, hash, at } = checkpoint
  return {
    passed: true,
    result: tableOf(`Signed position ${position}.`, ['position', 'hash', 'at'], [[String(position), hash, at]]),
    files: [file],
  }
}
