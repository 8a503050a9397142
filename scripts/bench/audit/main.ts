import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { to } from 'pg-copy-streams'
import { connect } from '../../../src/db/connect.ts'
import { progress } from '../bench.ts'
import { type DatabaseUrls, startCluster } from '../run/cluster.ts'
import { describeRun } from '../run/machine.ts'
import { runAndExit } from '../run/run-and-exit.ts'
import { cursorsAtHead } from '../run/subscription-cursors.ts'
import { seed } from '../seed.ts'
import { type AuditInterference, measureAuditInterference } from './audit-interference.ts'
import { growBooks } from './books.ts'
import { type Measured, runMeasured } from './run.ts'

const script = fileURLToPath(new URL('../../audit.ts', import.meta.url))

/** Those of `npm run audit`: what is read is garbage at once, and is not to pile up. */
const FLAGS = flagsOf('audit')
const CACHE = { NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url)) }

interface Line {
  readonly what: string
  readonly took: Measured | null
  /** Of events a second. */
  readonly target?: number
  /** Of all events, if less. */
  readonly share?: number
}

/** Most memory that any of ours may take, in MB. */
const MAX_MEMORY_MB = 400
/** The machine's speed changes from minute to minute. */
const TIMES = 5
/** How many times faster than hledger a verification is to be. */
const FASTER = 5

async function measure(events: number, cleanUp: AsyncDisposableStack): Promise<string> {
  progress(`writing books of ${events} events`)
  const cluster = await startCluster(cleanUp, { statements: false })
  const database = await cluster.create('books')
  await seed(database)
  await growBooks(database, events)
  await cluster.asOwner(database, cursorsAtHead)
  await cluster.asOwner(database, 'vacuum (analyze)')
  await cluster.asAdmin(['checkpoint'])
  const [head] = await cluster.ask('select position from ledger_head', 'books')
  const written = Number(head?.['position'])

  const journals = join(cluster.folder, 'journals')
  mkdirSync(journals)
  const env = { ...CACHE, DATABASE_URL: database.serviceUrl, DATABASE_OWNER_URL: database.ownerUrl }
  const audit = async (...args: string[]): Promise<Measured> => {
    progress(`audit ${args.join(' ')}`)
    return runMeasured(process.execPath, [...FLAGS, script, ...args], env)
  }
  const lines: Line[] = [
    { what: 'COPY … TO, the limit', took: await copyAll(database) },
    { what: `verify, the middle of ${TIMES}`, took: await middleOf(TIMES, () => audit('verify')), target: 100_000 },
    { what: 'rebuild', took: await audit('rebuild'), target: 50_000 },
    { what: 'verify of what was rebuilt', took: await audit('verify') },
    { what: 'export --format jsonl', took: await audit('export', '--format', 'jsonl') },
    { what: 'export --format hledger', took: await audit('export', '--format', 'hledger', '--folder', journals) },
  ]
  const files = readdirSync(journals)
    .sort()
    .map((name) => join(journals, name))
  const sizeOf = (path: string): number => statSync(path).size
  const size = files.reduce((sum, path) => sum + sizeOf(path), 0)
  // They take minutes and gigabytes for each file: one tells how fast they are.
  const [first = ''] = files
  const share = sizeOf(first) / size
  const check = ['check', '-s', 'balancednoautoconversion', 'ordereddates']
  lines.push({
    what: `hledger check of the first of ${files.length} files`,
    took: await runOther('hledger', ['-f', first, ...check]),
    share,
  })
  lines.push({ what: 'ledger balance of that file', took: await runOther('ledger', ['-f', first, 'balance']), share })
  const interference = await measureAuditInterference(cluster, database, cleanUp, () => {
    return spawn(process.execPath, [...FLAGS, script, 'verify'], { env: { ...process.env, ...env }, stdio: 'ignore' })
  })
  return [
    `# Finance: ${written.toLocaleString('en')} events, journals in ${files.length} files of ${Math.round(size / 2 ** 20)} MiB`,
    '',
    ...(await describeRun(cluster)).map((line) => `- ${line}`),
    '',
    ...table(lines, written),
    '',
    interferenceLine(interference),
  ].join('\n')
}

/** That of so many runs which took as long as half of them at most. */
async function middleOf(times: number, once: () => Promise<Measured>): Promise<Measured> {
  const all: Measured[] = []
  for (let i = 0; i < times; i += 1) all.push(await once())
  const middle = all.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(times / 2)]
  if (middle === undefined) throw new Error('nothing was measured')
  progress(all.map(({ seconds }) => `${seconds.toFixed(1)} s`).join(', '))
  return middle
}

/** All events as PostgreSQL sends them, thrown away. */
async function copyAll({ serviceUrl }: DatabaseUrls): Promise<Measured> {
  const client = await connect(serviceUrl, 'bench')
  const began = performance.now()
  let bytes = 0
  for await (const chunk of client.query(to('copy (select * from ledger_events order by position) to stdout'))) {
    bytes += Buffer.isBuffer(chunk) ? chunk.length : 0
  }
  const seconds = (performance.now() - began) / 1000
  progress(`${Math.round(bytes / 2 ** 20)} MiB of events`)
  await client.end()
  return { seconds, megabytes: Number.NaN }
}

/** Null when the program is not there. */
async function runOther(program: string, args: readonly string[]): Promise<Measured | null> {
  progress(program)
  try {
    return await runMeasured(program, args, {})
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function interferenceLine({ perSecond, p99: { alone, verified, begun } }: AuditInterference): string {
  const growth = verified / alone
  const told = `${alone.toFixed(2)} ms, and ${verified.toFixed(2)} ms beside a verification`
  const first = `${begun.toFixed(2)} ms in the 5 s in which it began`
  return `The service at half its capacity, ${perSecond} gifts a second: p99 ${told} (${growth.toFixed(2)} times; ${judged(growth <= 1.25, '≤ 1.25')}); ${first}`
}

const judged = (met: boolean, wanted: string): string => `${wanted}: ${met ? 'met' : 'missed'}`

function table(lines: readonly Line[], events: number): string[] {
  const rateOf = ({ took, share = 1 }: Line): number => (took === null ? Number.NaN : (events * share) / took.seconds)
  const hledger = lines.find(({ what }) => what.startsWith('hledger'))
  const rows = lines.map((line) => {
    const { what, took, target } = line
    if (took === null) return `| ${what} | not installed | | | |`
    const { seconds, megabytes } = took
    const rate = rateOf(line)
    const times = hledger?.took == null ? null : rate / rateOf(hledger)
    const wanted = [
      ...(target === undefined ? [] : [judged(rate >= target, `≥ ${target.toLocaleString('en')}/s`)]),
      ...(target === undefined ? [] : [judged(megabytes < MAX_MEMORY_MB, `< ${MAX_MEMORY_MB} MB`)]),
      ...(what.startsWith('verify,') && times !== null
        ? [judged(times >= FASTER, `${times.toFixed(1)} times as fast as hledger, ≥ ${FASTER}`)]
        : []),
    ].join('; ')
    const memory = Number.isNaN(megabytes) ? '' : Math.round(megabytes)
    return `| ${what} | ${seconds.toFixed(1)} | ${Math.round(rate).toLocaleString('en')} | ${memory} | ${wanted} |`
  })
  return ['| | seconds | events/s | peak MB | target |', '|---|---:|---:|---:|---|', ...rows]
}

const options = new Command('npm run bench:audit --')
  .description('Measures verify, rebuild and export on books made by the rules, beside hledger, ledger and plain COPY')
  .option('--events <n>', 'events of the ledger', Number, 1_000_000)
  .parse()
  .opts<{ readonly events: number }>()
await runAndExit((cleanUp) => measure(options.events, cleanUp))

/** The flags of Node's in a script of package.json. */
function flagsOf(script: string): string[] {
  const scripts: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).scripts
  const command = typeof scripts === 'object' && scripts !== null ? String(Reflect.get(scripts, script)) : ''
  return command.split(' ').filter((word) => word.startsWith('--'))
}
