import { readdirSync, readFileSync } from 'node:fs'

/** The parent of a process, and the CPU time of the process and of its children that have ended, in steps of 10 ms. */
function usageOf(pid: number | string): { readonly parent: number; readonly ms: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name of the program, in parentheses, may contain anything; utime, stime, cutime and cstime are fields 14 to 17.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), ms: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0) }
}

/** CPU milliseconds of a process and of its children that have ended. */
export const cpuMsOf = (pid: number | 'self'): number => usageOf(pid).ms

/** The same with the children that run: of a PostgreSQL by its postmaster. */
export function cpuMsWithChildren(pid: number): number {
  const children = readdirSync('/proc').flatMap((name) => {
    try {
      const { parent, ms } = usageOf(name)
      return parent === pid ? [ms] : []
    } catch {
      // No process, or one that has ended.
      return []
    }
  })
  return children.reduce((sum, ms) => sum + ms, cpuMsOf(pid))
}
