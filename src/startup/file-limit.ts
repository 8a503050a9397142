import { readFileSync } from 'node:fs'
import type { Log } from '../db/log.ts'
import { MAX_SOCKETS } from '../realtime/sockets/connection-registry.ts'

/** Open files of a process on Linux. */
const LIMITS = '/proc/self/limits'
/** For requests, upgrades that are refused, the database and files. */
const OTHER_FILES = 2_000

/** Warns when the system lets the process open fewer sockets than the service admits. Elsewhere than on Linux, it does not tell. */
export function warnAboutFileLimit(log: Log, read = () => readFileSync(LIMITS, 'utf8')): void {
  let limits: string
  try {
    limits = read()
  } catch {
    return
  }
  const [, limit] = /^Max open files +(\d+)/m.exec(limits) ?? []
  const needed = MAX_SOCKETS + OTHER_FILES
  if (limit === undefined || Number(limit) >= needed) return
  log.warn({ limit: Number(limit), needed }, `too few open files for all sockets; set ulimit -n to ${needed} or more`)
}
