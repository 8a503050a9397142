import { join } from 'node:path'
import { inspect } from 'node:util'
import tap from 'tap'
import { cpuMsOf } from '../harness/process/cpu-time.ts'
import { END_OF_FILE, type WorkerMessage } from './results.ts'

// Runs test files one after the other, those that main.ts names, in one process: loading the service takes longer than
// most files. Each file adds its tests to tap's root; an entry behind them reports, and loads the next file.

/** How long the process may take to end after its last file. */
const LEAK_MS = 60_000

const send = (message: WorkerMessage): void => void process.send?.(message)

/** What has been reported of earlier files. */
let reported = { pass: 0, skip: 0, failures: 0 }

// The process that started this one ends it when a file takes too long.
tap.setTimeout(0)
void tap.test(END_OF_FILE, runNext)

async function runNext(): Promise<void> {
  const file = await nextFile()
  if (file === null) return end()
  const startedAt = performance.now()
  const cpuBefore = cpuMsOf('self')
  let loadError: unknown
  try {
    await import(join(process.cwd(), file))
  } catch (error) {
    loadError = error
  }
  void tap.test(END_OF_FILE, async (t) => {
    // tap counts a test when it sees what follows.
    t.pass()
    const failed = tap.lists.fail.slice(reported.failures).map(({ fullname, diag }) => ({
      name: fullname.replace(/^TAP > /, ''),
      details: diag ? inspect(diag, { depth: 6 }) : '',
    }))
    const { pass, skip } = tap.counts
    send({
      ended: {
        file,
        wallMs: performance.now() - startedAt,
        cpuMs: cpuMsOf('self') - cpuBefore,
        // Without the entry at the end.
        passed: pass - reported.pass - 1,
        skipped: skip - reported.skip,
        failures:
          loadError === undefined ? failed : [...failed, { name: 'loading the file', details: inspect(loadError) }],
      },
    })
    reported = { pass, skip, failures: tap.lists.fail.length }
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

/** What throws now, or keeps the process running, is a fault of a test: the exit code is 1. The rest was reported. */
function end(): void {
  process.disconnect()
  let code = 0
  process.once('uncaughtExceptionMonitor', (error) => {
    console.error(`After the last test: ${inspect(error)}`)
    code = 1
  })
  process.once('exit', () => (process.exitCode = code))
  setTimeout(() => {
    console.error(`Tests left open: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit((code = 1))
  }, LEAK_MS).unref()
}
