import { readdirSync, readFileSync } from 'node:fs'

/** The tick of /proc: 100 a second on every Linux. */
const TICK_MICROS = 10_000

interface Usage {
  readonly parent: number
  /** CPU microseconds of the process, and of its ended children. */
  readonly own: number
  readonly collected: number
}

/** Null when the process has ended. */
function usageOf(pid: number | string): Usage | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The second field is a name in brackets, which may contain anything.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [, parent = 0] = fields
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11)
  return { parent, own: (user + system) * TICK_MICROS, collected: (childrenUser + childrenSystem) * TICK_MICROS }
}

/** CPU microseconds that a process has used so far. */
export const cpuOf = (pid: number): number => usageOf(pid)?.own ?? 0

/** CPU microseconds that PostgreSQL has used so far, including its ended processes. */
export function cpuOfCluster(postmaster: number): number {
  const self = usageOf(postmaster)
  const backends = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(usageOf)
    .filter((usage) => usage?.parent === postmaster)
  return (self?.own ?? 0) + (self?.collected ?? 0) + backends.reduce((sum, usage) => sum + (usage?.own ?? 0), 0)
}
