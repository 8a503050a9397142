import { readdirSync, readFileSync } from 'node:fs'

/** A tick of /proc in microseconds: 100 a second on every Linux. */
const TICK = 10_000

interface Usage {
  readonly parent: number
  /** Microseconds of its own, and of children that it has collected. */
  readonly own: number
  readonly collected: number
}

/** Null for a process that is gone. */
function usageOf(pid: number | string): Usage | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The second field is a name in brackets that may hold anything.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [, parent = 0] = fields
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11)
  return { parent, own: (user + system) * TICK, collected: (childrenUser + childrenSystem) * TICK }
}

/** CPU microseconds that a process has used so far. */
export const cpuOf = (pid: number): number => usageOf(pid)?.own ?? 0

/** CPU microseconds that a PostgreSQL with all its processes, past ones included, has used so far. */
export function cpuOfCluster(postmaster: number): number {
  const self = usageOf(postmaster)
  const backends = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(usageOf)
    .filter((usage) => usage?.parent === postmaster)
  return (self?.own ?? 0) + (self?.collected ?? 0) + backends.reduce((sum, usage) => sum + (usage?.own ?? 0), 0)
}
