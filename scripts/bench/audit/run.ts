import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a process took. */
export interface Measured {
  readonly seconds: number
  /** The most memory that it held at a time, in MB. */
  readonly megabytes: number
}

const SAMPLE_MS = 50

/** Runs a program to its end, its output thrown away. Throws when it is not there or ends with another code than 0. */
export async function runMeasured(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Measured> {
  const nowhere = openSync('/dev/null', 'w')
  const began = performance.now()
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', nowhere, 'pipe'] })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2_000)))
  let megabytes = 0
  let over = false
  const ended = once(child, 'close').finally(() => (over = true))
  ended.catch(() => {})
  while (!over) {
    megabytes = Math.max(megabytes, peakOf(child.pid))
    await Promise.race([ended.catch(() => {}), sleep(SAMPLE_MS)])
  }
  const [code] = await ended
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${said}`)
  return { seconds: (performance.now() - began) / 1000, megabytes }
}

/** Megabytes that a process held at most so far; 0 when it is over. */
function peakOf(pid: number | undefined): number {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes ?? 0) / 1024
  } catch {
    return 0
  }
}
