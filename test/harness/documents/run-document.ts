import { spawnSync } from 'node:child_process'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pino } from 'pino'
import type { Test } from 'tap'
import { loadConfig } from '../../../src/config/config.ts'
import { fingerprint } from '../../../src/config/keys.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { openDatabase } from '../../../src/startup/database.ts'
import { createTestExecutor, testOpening } from '../ledger/test-executor.ts'
import { newDataDir } from '../postgres/embedded.ts'
import { testSchema } from '../postgres/test-schema.ts'
import { reservePort } from '../process/reserve-port.ts'
import { type ServiceProcess, startService } from '../process/service.ts'
import { type Example, examplesOf, fileOf, readDocument } from './documents.ts'
import { asShown, comparable } from './outputs.ts'
import { openShell, type Shell } from './shell.ts'

/** Documents that share a session. */
export const TOUR = { path: 'test/journeys/tour.md', followedBy: ['src/audit/README.md'] } as const

/** Commands that no test runs, with the reason. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^npm ci\b/, 'it would replace the dependencies that the tests run with'],
  [/^(?:[A-Z_]+=\w+ )?npm test\b/, 'it would run this test'],
  [/^npm run (check|test:full|test:debian|books:elsewhere)\b/, 'it takes minutes, and every change has to pass it'],
  [/^npm run (soak|hostile)\b/, 'it needs a machine of its own; test/faults and test/hostile run short forms'],
  [/^npm run screenshots\b/, 'it would replace pictures of this checkout'],
  [/^npm run bench/, 'a measurement needs a machine of its own'],
  [/^rm -rf \.data$/, 'it would delete the data of the service'],
  [/^npm start$/, 'the service of the test runs already'],
  [
    /^npm run -s audit -- (close-month|verify-export)\b/,
    'no month of a new ledger is over; test/audit/closings closes one of an older ledger',
  ],
  [/^docker /, 'there is no container engine where the tests run'],
  [/PORT=3001 npm start$/, 'it runs until it is stopped; test/faults/instances.test.ts runs two instances'],
]

/** External programs, which may be missing. */
const PROGRAMS = /(?:^|\s)(psql|hledger)\s/
const isInstalled = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** Fixed, so that draws have the results of the documents. */
const KEYS = { FAIRNESS_KEY: 'fa'.repeat(32), PII_KEY: '91'.repeat(32), CHECKPOINT_KEY: 'c4'.repeat(32) }
const DOCUMENTED_ADDRESS = '127.0.0.1:3000'

interface Session {
  readonly shell: Shell
  readonly service: ServiceProcess
  /** Where commands find the service. */
  readonly address: string
}

/** Starts a service as the first `npm start` would, and a shell. */
export async function startSession(t: Test): Promise<Session> {
  const dataDir = newDataDir(t)
  await openLedger(dataDir)
  const folder = checkoutIn(dirname(dataDir))
  symlinkSync(dataDir, join(folder, '.data'))
  const port = await reservePort()
  const limits = { RATE_LIMIT: '', ADDRESS_LIMIT: '', DAILY_WRITE_BYTES: '' }
  const service = await startService(t, { DATA_DIR: dataDir, ...KEYS, ...limits }, port)
  const shell = openShell(t, folder, { DATA_DIR: dataDir, ...KEYS })
  return { shell, service, address: new URL(service.origin).host }
}

/** Begins a ledger whose incarnation is fixed: draws follow from it, too. */
async function openLedger(dataDir: string): Promise<void> {
  await using cleanUp = new AsyncDisposableStack()
  const config = loadConfig({ DATA_DIR: dataDir, LEDGER_SCHEMA: testSchema, ...KEYS })
  const { url } = await openDatabase(config, pino({ level: 'silent' }), new AbortController().signal, cleanUp)
  const { runOk } = createTestExecutor({ teardown: (close) => cleanUp.defer(close) }, url)
  await runOk(genesis, { ...testOpening, fairness_key: fingerprint(KEYS.FAIRNESS_KEY) })
}

const DAY_MS = 86_400_000
const dayFromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

/** Replaces the port and the month of the documents: 3000, November 2026. The month ends today. */
const asRun = (command: string, address: string): string =>
  command
    .replaceAll(DOCUMENTED_ADDRESS, address)
    .replaceAll('2026-11-01', dayFromNow(-1))
    .replaceAll('2026-11-30', dayFromNow(0))

/** Creates a folder that looks like this checkout, for the files that commands create. */
function checkoutIn(parent: string): string {
  const folder = mkdtempSync(join(parent, 'checkout-'))
  for (const entry of ['node_modules', 'package.json', 'schema', 'scripts', 'sql', 'src', 'test']) {
    symlinkSync(fileOf(entry), join(folder, entry))
  }
  return folder
}

/** With `--snapshot`, all outputs of a document are replaced when one differs, as they depend on each other. */
const rewrites = process.env['TAP_SNAPSHOT'] === '1'

/** Runs the commands of a document in order, and compares their outputs with those in the document. */
export async function runDocument(t: Test, path: string, { shell, address }: Session): Promise<void> {
  const text = readDocument(path)
  const outputs = new Map<Example, readonly string[]>()
  let differs = false
  for (const example of examplesOf(text)) {
    const { commands, output: shown } = example
    const printed: string[] = []
    let isComplete = true
    for (const command of commands) {
      const reason = reasonNotToRun(command)
      if (reason !== undefined) {
        t.comment(`not run: ${command} (${reason})`)
        isComplete = false
        continue
      }
      const { output, code } = await shell.run(asRun(command, address))
      const text = output.replaceAll(address, DOCUMENTED_ADDRESS).trimEnd()
      t.equal(code, 0, `${path}: ${command}\n${text}`)
      if (text !== '') printed.push(text)
    }
    if (shown === null || !isComplete) continue
    const lines = asShown(shown, printed.join('\n'))
    outputs.set(example, lines)
    const [actual, expected] = [lines, shown].map((list) => comparable(list.join('\n')))
    if (actual === expected) continue
    differs = true
    if (!rewrites) t.equal(actual, expected, `${path}: ${commands.join('\n')}`)
  }
  if (differs && rewrites) writeFileSync(fileOf(path), withOutputs(text, outputs))
}

function reasonNotToRun(text: string): string | undefined {
  const [, reason] = NOT_RUN.find(([pattern]) => pattern.test(text)) ?? []
  if (reason !== undefined) return reason
  const program = PROGRAMS.exec(` ${text}`)?.[1]
  return program === undefined || isInstalled(program) ? undefined : `${program} is not installed`
}

function withOutputs(text: string, outputs: ReadonlyMap<Example, readonly string[]>): string {
  const lines = text.split('\n')
  for (const [{ output: shown, outputStart }, printed] of [...outputs].toReversed()) {
    if (shown !== null) lines.splice(outputStart, shown.length, ...printed)
  }
  return lines.join('\n')
}
