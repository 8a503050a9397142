import { readdirSync, readFileSync } from 'node:fs'

/** The tick of /proc: 100 a second on every Linux. */
const TICK_MICROS = 10_000

/** The parent of a process, and CPU microseconds of the process and of its ended children; zeros when it has ended. */
function usageOf(pid: number | string): { readonly parent: number; readonly own: number; readonly collected: number } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is a name in brackets, which may contain anything.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11)
    const [own, collected] = [user + system, childrenUser + childrenSystem]
    return { parent: fields[1] ?? 0, own: own * TICK_MICROS, collected: collected * TICK_MICROS }
  } catch {
    return { parent: 0, own: 0, collected: 0 }
  }
}

/** CPU microseconds that a process has used so far. */
export const cpuOf = (pid: number): number => usageOf(pid).own

/** CPU microseconds that PostgreSQL has used so far, including its ended processes. */
export function cpuOfCluster(postmaster: number): number {
  const { own, collected } = usageOf(postmaster)
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(usageOf)
  const backends = processes.filter(({ parent }) => parent === postmaster)
  return own + collected + backends.reduce((sum, backend) => sum + backend.own, 0)
}
