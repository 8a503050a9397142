import { join } from 'node:path'
import { Writable } from 'node:stream'
import { runAudit as run } from '../../scripts/audit.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'

export const auditScript = join(import.meta.dirname, '../../scripts/audit.ts')

export interface Run {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs the audit's command line in this process, with these variables alone. */
export const runAudit = (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run> =>
  runHere(run, env, args)

/** Runs a command line in this process, with these variables alone. */
export async function runHere(
  commandLine: typeof run,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Run> {
  const stdout = new Text()
  const stderr = new Text()
  const { signal } = new AbortController()
  const code = await commandLine(args, { env: { LEDGER_SCHEMA: testSchema, ...env }, stdout, stderr, signal })
  return { code, out: stdout.text, err: stderr.text }
}

class Text extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}
