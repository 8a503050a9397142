import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import { promisify } from 'node:util'

const LOWEST_PRIORITY = 19

/**
 * Lets this process run only while no other one wants the processor: by the idle class of `chrt` where it is installed,
 * as with a high nice level alone requests of a service still wait some milliseconds. Call it only when no lock is held
 * and no further process is started, as children inherit it. On an idle machine it costs some percent of the speed.
 */
export async function lowerProcessPriority(): Promise<void> {
  try {
    await promisify(execFile)('chrt', ['-a', '-i', '-p', '0', String(process.pid)])
  } catch {
    setPriority(LOWEST_PRIORITY)
  }
}
