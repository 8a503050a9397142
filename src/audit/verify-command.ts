import { describe, MOST_FINDINGS } from './finding.ts'
import { count, type Terminal } from './terminal.ts'
import { type Verified, verify } from './verify.ts'

export interface VerifyFlags {
  readonly asOf?: number
  readonly json?: true
}

/** `audit verify`: answers the number of findings, having printed them. */
export async function verifyCommand(
  url: string,
  { asOf, json }: VerifyFlags,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const verified = await verify(url, { asOf: asOf ?? null, progress: terminal.progress, signal })
  if (json) terminal.line(JSON.stringify(verified))
  else for (const line of lines(verified, terminal.seconds())) terminal.line(line)
  return verified.findings.length
}

function lines({ position, events, findings }: Verified, seconds: number): string[] {
  const looked = `${count(events)} events up to position ${position} in ${seconds.toFixed(1)} s`
  if (findings.length === 0) return [`clean: ${looked}`]
  const number =
    findings.length === MOST_FINDINGS ? `the first ${MOST_FINDINGS} findings` : `findings: ${findings.length}`
  return [...findings.map(describe), `${number}, ${looked}`]
}
