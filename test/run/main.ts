import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { failedTests } from './failed-tests.ts'
import { failureDetails } from './failure-details.ts'

// Runs tap and, when something failed, ends with what and why: in the output of all tests it is hard to find.

const tap = fileURLToPath(new URL('../../node_modules/.bin/tap', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'economy-tests-'))
const file = join(folder, 'output.tap')
// tap shows TAP itself unless a person watches; and it writes everything twice when that is to go to a file, too.
const isTerminal = process.stdout.isTTY
const options = isTerminal ? [`--output-file=${file}`] : []
const child = spawn(process.execPath, [tap, 'run', ...options, ...process.argv.slice(2)], {
  stdio: ['inherit', isTerminal ? 'inherit' : 'pipe', 'inherit'],
})
let output = ''
child.stdout?.setEncoding('utf8').on('data', (text: string) => {
  process.stdout.write(text)
  output += text
})
// tap gets Ctrl-C, too, and ends its tests; this process waits for it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))

await once(child, 'close')
if (isTerminal && existsSync(file)) output = readFileSync(file, 'utf8')
rmSync(folder, { recursive: true })
process.exitCode = child.exitCode ?? 1
if (process.exitCode !== 0) {
  for (const detail of failureDetails(output)) console.log(detail)
  const failed = failedTests(output)
  console.log(
    ['', failed.length === 0 ? 'Failed, and no test says why.' : 'Failed:', ...failed].join('\n  ').trimStart(),
  )
}
