import { existsSync, readFileSync, readlinkSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode } from '../../config/error-code.ts'

/** A running PostgreSQL, as its `postmaster.pid` tells. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
}

/** The PostgreSQL that runs in this cluster folder, or null: also when the file is left over from a killed one. */
export function findPostmaster(cluster: string): Postmaster | null {
  const recorded = readPidFile(cluster)
  return recorded !== null && isPostmasterOf(recorded.pid, cluster) ? recorded : null
}

/** More than any system counts to, so there is never a process of that number. */
const UNUSED_PID = 2_147_483_647

/**
 * Makes a left-over `postmaster.pid` harmless whose number is alive again: taken by another program, as happens in a
 * container that counts from 1 at every start, or held by the dead PostgreSQL itself where nobody collects it.
 * PostgreSQL would believe to be running and refuse to start. Only the number is replaced: by the rest of the file it
 * finds out whether processes of its former life still use the shared memory, and waits for them.
 */
export function clearReusedPid(cluster: string): void {
  const recorded = readPidFile(cluster)
  if (recorded === null || !isAlive(recorded.pid) || isPostmasterOf(recorded.pid, cluster)) return
  const path = join(cluster, 'postmaster.pid')
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
  // Without /proc (macOS) the number alone has to do.
  if (!existsSync('/proc/self/cwd')) return true
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch (error) {
    return errorCode(error) === 'EACCES' && looksLikePostmaster(pid, cluster)
  }
}

/** In a container even root may be kept from looking closely at another user's process; this much is public. */
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
