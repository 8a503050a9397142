import { join } from 'node:path'
import { inspect } from 'node:util'
import tap from 'tap'
import { cpuMsOf } from '../harness/process/cpu-time.ts'
import { END_OF_FILE, type WorkerMessage } from './results.ts'

// Runs test files one after the other, those that main.ts names, in one process: loading the service takes longer than
// most files. Each file adds its tests to tap's root; an entry behind them reports, and loads the next file.

/** How long the process may take to end after its last file. */
const LEAK_MS = 10_000

const send = (message: WorkerMessage): void => void process.send?.(message)

// The process that started this one ends it when a file takes too long.
tap.setTimeout(0)
void tap.test(END_OF_FILE, runNext)

async function runNext(): Promise<void> {
  const file = await nextFile()
  if (file === null) return end()
  const { pass, skip } = tap.counts
  const failures = tap.lists.fail.length
  const startedAt = performance.now()
  const cpuBefore = cpuMsOf('self')
  let loadError: unknown
  try {
    await import(join(process.cwd(), file))
  } catch (error) {
    loadError = error
  }
  void tap.test(END_OF_FILE, async () => {
    const failed = tap.lists.fail.slice(failures).map(({ fullname, diag }) => ({
      name: fullname.replace(/^TAP > /, ''),
      details: diag ? inspect(diag, { depth: 6 }) : '',
    }))
    send({
      ended: {
        file,
        wallMs: performance.now() - startedAt,
        cpuMs: cpuMsOf('self') - cpuBefore,
        passed: tap.counts.pass - pass,
        skipped: tap.counts.skip - skip,
        failures:
          loadError === undefined ? failed : [...failed, { name: 'loading the file', details: inspect(loadError) }],
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

/** What keeps the process running now is a fault of a test. What failed is reported, so that the exit code says no more. */
function end(): void {
  process.disconnect()
  let code = 0
  process.once('exit', () => (process.exitCode = code))
  setTimeout(() => {
    console.error(`Tests left open: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit((code = 1))
  }, LEAK_MS).unref()
}
