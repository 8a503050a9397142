import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../config/error-code.ts'

/** A running PostgreSQL, by its `postmaster.pid`. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
}

/** The PostgreSQL that runs in this cluster folder, or null, also when a killed one left its file behind. */
export function findPostmaster(cluster: string): Postmaster | null {
  const recorded = readPidFile(cluster)
  return recorded !== null && isPostmasterOf(recorded.pid, cluster) ? recorded : null
}

/** Kills the PostgreSQL of this cluster folder, with all of its processes where the system lists them. */
export function killProcesses(cluster: string): void {
  const postmaster = findPostmaster(cluster)
  if (postmaster === null) return
  // Processes that wait for nothing would notice its end late or, suspended, never.
  for (const pid of [postmaster.pid, ...childrenOf(postmaster.pid)]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      // It has just ended.
      if (errorCode(error) !== 'ESRCH') throw error
    }
  }
}

/** The processes that a process has started; none where the system does not list them. */
export function childrenOf(parent: number): number[] {
  if (!existsSync('/proc/self/stat')) return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent)
}

/** Null when the process has just ended. */
function parentOf(pid: number): number | null {
  try {
    // `pid (name) state parent …`, where a name may contain anything.
    return Number(/.*\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
  } catch {
    return null
  }
}

/** More than any system's largest process id. */
const UNUSED_PID = 2_147_483_647

/** A starting PostgreSQL writes the file that it has created at once. */
const EMPTY_FILE_AGE_MS = 500

/**
 * Repairs a left-over `postmaster.pid` with which PostgreSQL would refuse to start, believing to run already:
 * - One whose process id is in use again: by another program, as in a container that counts from 1 at every start, or by
 *   the dead PostgreSQL as a zombie. Only the id is replaced: the rest of the file shows PostgreSQL whether processes of
 *   its former run still use the shared memory, and it waits for them.
 * - An empty one, of a PostgreSQL that was killed while it started. It is removed.
 */
export function repairPidFile(cluster: string): void {
  const path = join(cluster, 'postmaster.pid')
  const file = statSync(path, { throwIfNoEntry: false })
  if (file?.size === 0) {
    if (Date.now() - file.mtimeMs > EMPTY_FILE_AGE_MS) rmSync(path, { force: true })
    return
  }
  const recorded = readPidFile(cluster)
  if (recorded === null || !isAlive(recorded.pid) || isPostmasterOf(recorded.pid, cluster)) return
  writeFileSync(path, readFileSync(path, 'utf8').replace(/^\d+/, `${UNUSED_PID}`))
}

/** Lines: process id, cluster folder, time of start, port, … */
function readPidFile(cluster: string): Postmaster | null {
  try {
    const [pid, , , port] = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n').map(Number)
    return pid !== undefined && pid > 0 && port !== undefined ? { pid, port } : null
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Every process of PostgreSQL has its cluster folder as working directory; a zombie has none. */
function isPostmasterOf(pid: number, cluster: string): boolean {
  if (!isAlive(pid)) return false
  // Without /proc (macOS) the process id alone has to do.
  if (!existsSync('/proc/self/cwd')) return true
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch (error) {
    return errorCode(error) === 'EACCES' && looksLikePostmaster(pid, cluster)
  }
}

/** In a container even root may not read another user's process in full; this much is public. */
function looksLikePostmaster(pid: number, cluster: string): boolean {
  try {
    const process = `/proc/${pid}`
    return (
      statSync(process).uid === statSync(cluster).uid && readFileSync(`${process}/cmdline`, 'utf8').includes('postgres')
    )
  } catch {
    // It has just ended.
    return false
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}
