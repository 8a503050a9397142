import { setPriority } from 'node:os'
import { type Audit, type DeclareCommand, JSON_FLAG, positionFlag } from './command.ts'
import { describe, MOST_FINDINGS } from './finding.ts'
import { count } from './terminal.ts'
import { type Verified, verify } from './verify.ts'

const NICE = 19

interface Flags {
  readonly asOf?: number
  readonly json?: true
}

export const verifyCommand: DeclareCommand = (audit, running) =>
  void audit
    .command('verify')
    .description('replays the ledger and compares it with itself and with every table')
    .option('--as-of <position>', 'the last position to look at', positionFlag)
    .option(...JSON_FLAG)
    .action(running(run))

async function run({ url, terminal, signal }: Audit, { asOf, json }: Flags): Promise<number> {
  // Where the processor is short, it goes to those who serve users.
  setPriority(NICE)
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
