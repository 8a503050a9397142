import { spawnSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Test, test } from 'tap'
import {
  blocksOf,
  type Command,
  checkoutIn,
  commandsOf,
  comparable,
  documents,
  isShown,
  openShell,
  readDocument,
  type Shell,
} from '../harness/documents.ts'
import { newDataDir } from '../harness/postgres/embedded.ts'
import { freePort, type ServiceProcess, startService } from '../harness/process/service.ts'
import { until } from '../harness/until.ts'

const TOUR = 'test/journeys/tour.md'
/** Whatever else has commands follows in the tour's database: the month that finance closes is that of the tour. */
const AFTER_TOUR = ['src/startup/README.md']

/** Commands that this test does not run, with the reason. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^npm ci\b/, 'it would replace the dependencies that the tests run with'],
  [/^npm test\b|^RUNS=\d+ npm test\b|^npx tap\b/, 'it is what runs here'],
  [/^npm run check\b/, 'it takes minutes, and every change has to pass it'],
  [/^npm run (soak|hostile)\b/, 'it needs a machine of its own; test/faults and test/hostile run short forms'],
  [/^npm run bench/, 'figures are only good from a machine of its own'],
  [/^\S*git /, 'the tests may run without a repository'],
  [/^docker /, 'there is no container engine where the tests run'],
  [/PORT=3001 npm start$/, 'it goes on until it is stopped; test/faults/instances.test.ts runs two'],
  [/^openssl /, 'it is a program of the system'],
]

/** Programs of others, which may be missing. */
const PROGRAMS = /(?:^|\s)(psql|hledger)\s/
const isInstalled = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

const key = (byte: string): string => byte.repeat(32)
/** Fixed, so that the draws are those of the documents. */
const KEYS = { FAIRNESS_KEY: key('fa'), PII_KEY: key('91'), CHECKPOINT_KEY: key('c4') }
const DOCUMENTED_PORT = '127.0.0.1:3000'

interface Session {
  readonly shell: Shell
  readonly service: ServiceProcess
  readonly address: string
}

/** A service as `npm start` runs it first, and a shell beside it. */
async function startSession(t: Test): Promise<Session> {
  const dataDir = newDataDir(t)
  const folder = checkoutIn(dirname(dataDir))
  symlinkSync(dataDir, join(folder, '.data'))
  const port = await freePort()
  const limits = { RATE_LIMIT: '', ADDRESS_LIMIT: '', DAILY_WRITE_BYTES: '' }
  const service = await startService(t, { DATA_DIR: dataDir, ...KEYS, ...limits }, port)
  const shell = openShell(t, folder, { DATA_DIR: dataDir, ...KEYS })
  return { shell, service, address: `127.0.0.1:${port}` }
}

const DAY_MS = 86_400_000
const dayFromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

/** The documents speak of November 2026 and of port 3000. */
const asRun = (command: string, address: string): string =>
  command
    .replaceAll(DOCUMENTED_PORT, address)
    .replaceAll('2026-11-01', dayFromNow(-1))
    .replaceAll('2026-11-30', dayFromNow(1))

/** With `tap --snapshot`, the outputs that differ are written into the document. */
const rewrites = process.env['TAP_SNAPSHOT'] === '1'

async function runDocument(t: Test, path: string, { shell, address }: Session): Promise<void> {
  const lines = readDocument(path).split('\n')
  const outputs: { readonly command: Command; readonly lines: readonly string[] }[] = []
  for (const command of commandsOf(lines.join('\n'))) {
    const [, reason] = NOT_RUN.find(([pattern]) => pattern.test(command.text)) ?? []
    if (reason !== undefined) {
      t.comment(`not run: ${command.text} (${reason})`)
      continue
    }
    const program = PROGRAMS.exec(` ${command.text}`)?.[1]
    if (program !== undefined && !isInstalled(program)) {
      t.comment(`not run: ${command.text} (${program} is not installed)`)
      continue
    }
    const { output, code } = await shell.run(asRun(command.text, address))
    const shown = output.replaceAll(address, DOCUMENTED_PORT)
    t.equal(code, 0, `${path}: ${command.text}\n${shown}`)
    if (command.output === null || isShown(command.output, shown)) continue
    if (rewrites) outputs.push({ command, lines: shown.trimEnd().split('\n') })
    else t.equal(comparable(shown), comparable(command.output.join('\n')), `${path}: output of ${command.text}`)
  }
  for (const { command, lines: written } of outputs.toReversed()) {
    lines.splice(command.outputStart, command.output?.length ?? 0, ...written.filter((line) => line !== ''))
  }
  if (outputs.length > 0) writeFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), lines.join('\n'))
}

test('the commands of the tour and of the other documents answer what they show', async (t) => {
  const session = await startSession(t)
  await runDocument(t, TOUR, session)
  for (const { language, lines } of blocksOf(readDocument(TOUR))) {
    if (language !== 'json') continue
    // Lines of the service's log.
    const { identifier } = Object(JSON.parse(lines.join('')))
    await until(() => session.service.output().includes(`"identifier":"${identifier}"`))
  }
  const others = documents.filter((path) => path !== 'README.md' && path !== TOUR)
  for (const path of AFTER_TOUR) t.ok(others.includes(path), path)
  for (const path of new Set([...AFTER_TOUR, ...others])) await runDocument(t, path, session)
})
