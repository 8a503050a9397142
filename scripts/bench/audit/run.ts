import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Duration and memory of a process. */
export interface Measured {
  readonly seconds: number
  /** Peak resident memory. */
  readonly megabytes: number
}

const SAMPLE_MS = 50

/** Runs a program and discards its output. Throws when it cannot be started or exits with another code than 0. */
export async function runMeasured(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Measured> {
  const devNull = openSync('/dev/null', 'w')
  const began = performance.now()
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', devNull, 'pipe'] })
  let errorOutput = ''
  child.stderr?.on('data', (chunk: Buffer) => (errorOutput = `${errorOutput}${chunk.toString()}`.slice(-2_000)))
  let megabytes = 0
  let isOver = false
  const ended = once(child, 'close').finally(() => (isOver = true))
  ended.catch(() => {})
  while (!isOver) {
    megabytes = Math.max(megabytes, peakOf(child.pid))
    await Promise.race([ended.catch(() => {}), sleep(SAMPLE_MS)])
  }
  const [code] = await ended
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${errorOutput}`)
  return { seconds: (performance.now() - began) / 1000, megabytes }
}

/** Peak resident memory of a process so far, in MB; 0 after its end. */
function peakOf(pid: number | undefined): number {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes ?? 0) / 1024
  } catch {
    return 0
  }
}
