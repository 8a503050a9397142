import { fork } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { globSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { isFullRun } from '../harness/long-tests.ts'
import { removeTestCluster, startTestCluster } from '../harness/postgres/test-cluster.ts'
import { fileLine, report } from './report.ts'
import { END_OF_FILE, type FileResult, type WorkerMessage } from './results.ts'

// What `npm test` starts: a PostgreSQL for all tests, and a few processes that each run one test file after the other.

/** A file that takes longer hangs: the longest takes a quarter of it in the full run. */
const FILE_DEADLINE_MS = 900_000
/** How long a process may take to end after its last file. */
const END_DEADLINE_MS = 300_000
/** Folders whose files take longest, first, so that no process is left alone with one of them. */
const FIRST = ['browser', 'journeys', 'startup', 'properties']

const { grep, snapshot, jobs, files } = wanted()

/** What generated values follow from: always the same in `npm test`. */
const seed = process.env['SEED'] ?? String(isFullRun ? randomInt(2 ** 31) : 1)
console.log(`SEED=${seed} generates the same values again.`)

/** Whether a file judges services that take all of the machine: such files run one by one, after all others. */
const isLast = (file: string): boolean => isFullRun && /^test\/(faults|hostile)\//.test(file)
const queue = files.filter((file) => !isLast(file))
const results: FileResult[] = []
let isInterrupted = false
// npm passes a signal on that its group has already.
process.on('SIGINT', stop)
process.on('SIGTERM', stop)
const startedAt = performance.now()
const cluster = await startTestCluster(process.pid)
const env = {
  ...process.env,
  TEST_CLUSTER: String(process.pid),
  RUN_SEED: seed,
  ...(grep !== undefined && { TAP_GREP: `${grep}|${END_OF_FILE}` }),
  ...(snapshot && { TAP_SNAPSHOT: '1' }),
}
/** A single file shows everything that it prints. */
const output = files.length === 1 ? 'inherit' : 'ignore'

await Promise.all(Array.from({ length: Math.min(jobs, queue.length) }, runFiles))
if (!isInterrupted) queue.push(...files.filter(isLast))
await runFiles()
const postgresMs = cluster.cpuMs()
await removeTestCluster(process.pid)
console.log(report(results, { wallMs: performance.now() - startedAt, postgresMs }))
const isNothingFound = grep !== undefined && results.every(({ passed, failures }) => passed + failures.length === 0)
if (isNothingFound) console.error(`No test has ${grep} in its name.`)
process.exitCode = isNothingFound || results.some(({ failures }) => failures.length > 0) ? 1 : 0

function stop(): void {
  if (isInterrupted) return
  isInterrupted = true
  queue.length = 0
  add({ file: 'test/run/main.ts', failures: [{ name: 'interrupted', details: '' }] })
}

/** What the command line asks for; ends the process where it cannot be done. */
function wanted() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        /** Only the tests whose names match this pattern. */
        grep: { type: 'string' },
        /** Write what was recorded again. */
        snapshot: { type: 'boolean', default: false },
        jobs: { type: 'string', default: String(availableParallelism() + 1) },
      },
    })
    if (values.grep !== undefined) RegExp(values.grep)
    const jobs = Number(values.jobs)
    if (!Number.isInteger(jobs) || jobs < 1) throw new Error('--jobs must be 1 or more.')
    const files = filesIn(positionals.length === 0 ? ['test'] : positionals)
    if (files.length === 0) throw new Error(`There is no test file in ${positionals.join(', ')}.`)
    return { ...values, jobs, files }
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    process.exit(2)
  }
}

/** Runs files in a process, and those that are left in another one when it crashes or hangs. */
async function runFiles(): Promise<void> {
  while (queue.length > 0) await runProcess()
}

/** Ends with the process, which takes at least one file or is counted as failed. */
function runProcess(): Promise<void> {
  const child = fork(join(import.meta.dirname, 'worker.ts'), { env, stdio: ['ignore', output, 'inherit', 'ipc'] })
  let file: string | null = null
  let hasAsked = false
  let overdue: string | null = null
  let deadline: NodeJS.Timeout | undefined
  const allow = (ms: number, why: string): void => {
    clearTimeout(deadline)
    deadline = setTimeout(() => {
      overdue = why
      child.kill('SIGKILL')
    }, ms)
  }
  child.on('message', (message: WorkerMessage) => {
    if (message === 'next') {
      hasAsked = true
      file = queue.shift() ?? null
      allow(
        file === null ? END_DEADLINE_MS : FILE_DEADLINE_MS,
        file === null ? 'the process does not end' : 'timed out',
      )
      // A process that has ended meanwhile is counted at its exit; without a callback the error would end this one.
      child.send({ file }, () => {})
      return
    }
    // tap sends messages of its own, too.
    if (!('ended' in message)) return
    add(message.ended)
    file = null
  })
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      clearTimeout(deadline)
      if (file !== null || code !== 0 || !hasAsked) {
        // A process that has never asked takes a file with it, or there would be no end of such processes.
        const lost = file ?? (hasAsked ? undefined : queue.shift()) ?? 'test/run/worker.ts'
        add({ file: lost, failures: [{ name: overdue ?? `the process ended: ${signal ?? code}`, details: '' }] })
      }
      resolve()
    })
  })
}

function add(result: Partial<FileResult> & Pick<FileResult, 'file' | 'failures'>): void {
  const whole = { wallMs: 0, cpuMs: 0, passed: 0, skipped: 0, ...result }
  results.push(whole)
  if (files.length > 1) console.log(fileLine(whole))
}

function testFile(path: string): string {
  if (!path.endsWith('.ts')) throw new Error(`${path} is not a test.`)
  return path
}

/** The test files that are named or in named folders, those of slow folders first. */
function filesIn(paths: readonly string[]): readonly string[] {
  const found = paths.flatMap((path) =>
    statSync(path).isDirectory() ? globSync(join(path, '**/*.test.ts')).toSorted() : [relative('.', testFile(path))],
  )
  const rank = (file: string): number => {
    const at = FIRST.indexOf(file.split('/')[1] ?? '')
    return at === -1 ? FIRST.length : at
  }
  return found.toSorted((a, b) => rank(a) - rank(b))
}
