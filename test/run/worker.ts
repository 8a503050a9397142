import { join } from 'node:path'
import { inspect } from 'node:util'
import tap from 'tap'
import { cpuMsOf } from '../harness/process/cpu-time.ts'
import type { Failure, WorkerMessage } from './results.ts'

// Runs test files one after the other, those that main.ts names, in one process: loading the service takes longer than
// most files. Each file adds its tests to tap's root; an entry behind them reports, and loads the next file.

const END_OF_FILE = 'end of the file'
/** How long the process may take to end after its last file. */
const LEAK_MS = 10_000

const send = (message: WorkerMessage): void => void process.send?.(message)

let failures: Failure[] = []
let passed = 0
let skipped = 0

// The process that started this one ends it when a file takes too long.
tap.setTimeout(0)
tap.on('subtestEnd', ({ name, results, lists }) => {
  if (name === END_OF_FILE) return
  passed += results?.pass ?? 0
  skipped += results?.skip ?? 0
  for (const { fullname, diag } of lists.fail)
    failures.push({ name: fullname, details: diag ? inspect(diag, { depth: 6 }) : '' })
  if (results?.ok === false && lists.fail.length === 0) failures.push({ name, details: inspect(results, { depth: 3 }) })
})

void tap.test(END_OF_FILE, runNext)

async function runNext(): Promise<void> {
  const file = await nextFile()
  if (file === null) return end()
  failures = []
  passed = 0
  skipped = 0
  const startedAt = performance.now()
  const cpuBefore = cpuMsOf('self')
  try {
    await import(join(process.cwd(), file))
  } catch (error) {
    failures.push({ name: 'loading the file', details: inspect(error) })
  }
  void tap.test(END_OF_FILE, async () => {
    send({
      ended: {
        file,
        wallMs: performance.now() - startedAt,
        cpuMs: cpuMsOf('self') - cpuBefore,
        passed,
        skipped,
        failures,
      },
    })
    await runNext()
  })
}

function nextFile(): Promise<string | null> {
  // tap lets the process end while it waits for a message.
  process.channel?.ref()
  return new Promise((resolve) => {
    process.once('message', (message) => resolve(Object(message).file))
    send('next')
  })
}

/** Nothing must keep the process running now. */
function end(): void {
  process.disconnect()
  setTimeout(() => {
    console.error(`Tests left open: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }, LEAK_MS).unref()
}
