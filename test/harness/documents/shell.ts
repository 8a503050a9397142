import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { testSchema } from '../postgres/test-schema.ts'
import type { Scope } from '../scope.ts'

export interface Shell {
  /** Runs a command after those before it; answers its output and exit code. */
  run(command: string): Promise<{ readonly output: string; readonly code: number }>
}

/** A shell like that of a reader, which keeps variables and functions between commands. Ends with the test. */
export function openShell(t: Scope, folder: string, environment: Readonly<Record<string, string>>): Shell {
  const child = spawn('bash', ['--noprofile', '--norc'], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      LANG: 'C.UTF-8',
      LEDGER_SCHEMA: testSchema,
      // For psql.
      PGOPTIONS: `-c search_path=${testSchema}`,
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    const ended = once(child, 'exit')
    child.stdin.end()
    await ended
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const END = '--- end of command ---'
  return {
    async run(command) {
      child.stdin.write(`{ ${command}\n} < /dev/null 2>&1; printf '\\n%s %s\\n' '${END}' $?\n`)
      const output: string[] = []
      for (;;) {
        const { value, done } = await lines.next()
        if (done === true) throw new Error(`the shell ended in: ${command}`)
        if (value.startsWith(END)) return { output: output.join('\n'), code: Number(value.slice(END.length)) }
        output.push(value)
      }
    },
  }
}
