import type { Invocation } from '../../scripts/command-line.ts'
import { testSchema } from '../harness/postgres/test-schema.ts'
import { unreachableUrl } from '../harness/postgres/unreachable-url.ts'

/** The exit code of a command line, and what it printed. */
export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command line in this process. `onOut` sees each text before the command line continues; `interrupt` is its Ctrl-C. */
export async function callCommandLine(
  main: (invocation: Invocation) => Promise<number>,
  url: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  onOut: (text: string, interrupt: () => void) => void = () => {},
): Promise<CommandResult> {
  const interruption = new AbortController()
  let out = ''
  let err = ''
  const code = await main({
    args,
    // Command lines that write never use the standby. No instance has seen a ledger in this DATA_DIR.
    env: {
      LEDGER_SCHEMA: testSchema,
      DATABASE_URL: url,
      DATABASE_READ_URL: unreachableUrl,
      DATA_DIR: '/dev/null',
      ...env,
    },
    out: (text) => {
      out += text
      onOut(text, () => interruption.abort(new Error('ended by SIGINT')))
    },
    err: (text) => void (err += text),
    interrupted: interruption.signal,
  })
  return { code, out, err }
}
