import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import { promisify } from 'node:util'

const NICE = 19

/**
 * Puts this process behind all else for the processor: where the system can (Linux, with `chrt`), it runs only while
 * nobody else wants to, as a low priority alone lets a request wait for some milliseconds until its turn comes. Not for
 * whoever holds what others wait for, and only once no process is begun any more that others may come to use. Where
 * nobody else is, it costs some percent of the speed: the system moves such a process about more.
 */
export async function lowerProcessPriority(): Promise<void> {
  try {
    await promisify(execFile)('chrt', ['-a', '-i', '-p', '0', String(process.pid)])
  } catch {
    setPriority(NICE)
  }
}
