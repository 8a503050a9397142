import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
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
import { alternateWithCopy, medianTurn, shareOfCopy, verifyTable } from './verify-turns.ts'

const OURS = fileURLToPath(new URL('../../..', import.meta.url))

interface Line {
  readonly name: string
  /** Null when the program is not installed. */
  readonly measured: Measured | null
  /** Events a second. */
  readonly target?: number
  /** The share of all events that were read, if not all. */
  readonly share?: number
}

/** Of each of our commands. */
const MAX_MEMORY_MB = 400
/** The target of the speed of `verify`, as a share of that of COPY. */
const MIN_SHARE_OF_COPY = 0.4
/** A verification must be so many times as fast as hledger. */
const MIN_HLEDGER_RATIO = 5

interface Options {
  readonly events: number
  readonly rounds: number
  /** Another checkout: only compares with it. */
  readonly against?: string
  /** With `against`: what is compared. */
  readonly only: 'verify' | 'service'
}

async function measure(options: Options, cleanUp: AsyncDisposableStack): Promise<string> {
  progress(`writing books of ${options.events} events`)
  const cluster = await startCluster(cleanUp, { statements: false })
  const database = await cluster.create('books')
  await seed(database)
  await growBooks(database, options.events)
  await cluster.asOwner(database, cursorsAtHead)
  await cluster.asOwner(database, 'vacuum (analyze)')
  await cluster.asAdmin(['checkpoint'])
  const [head] = await cluster.ask('select position from ledger_head', 'books')
  const written = Number(head?.['position'])
  const ours = auditOf(OURS, database)
  const verifications = { verified: () => ours.start('verify') }
  const { against, rounds } = options
  if (against !== undefined) {
    const other = auditOf(resolve(against), database)
    if (options.only === 'verify') {
      const contenders = { ours: () => ours.run('verify'), other: () => other.run('verify') }
      return verifyTable(await alternateWithCopy(rounds, () => copyAll(database), contenders), written)
    }
    const both = { ...verifications, other: () => other.start('verify') }
    return interferenceLines(await measureAuditInterference(cluster, database, cleanUp, rounds, both)).join('\n')
  }

  const journals = join(cluster.folder, 'journals')
  mkdirSync(journals)
  const turns = await alternateWithCopy(rounds, () => copyAll(database), { verify: () => ours.run('verify') })
  const lines: Line[] = [
    { name: `COPY … TO, the limit, the median of ${rounds}`, measured: medianTurn(turns.get('copy')) },
    { name: `verify, the median of ${rounds}`, measured: medianTurn(turns.get('verify')), target: 100_000 },
    { name: 'rebuild', measured: await ours.run('rebuild'), target: 50_000 },
    { name: 'verify after rebuild', measured: await ours.run('verify') },
    { name: 'export --format jsonl', measured: await ours.run('export', '--format', 'jsonl') },
    {
      name: 'export --format hledger',
      measured: await ours.run('export', '--format', 'hledger', '--folder', journals),
    },
  ]
  const files = readdirSync(journals)
    .sort()
    .map((name) => join(journals, name))
  const sizeOf = (path: string): number => statSync(path).size
  const size = files.reduce((sum, path) => sum + sizeOf(path), 0)
  // One file is enough to measure their speed, as each takes minutes and gigabytes.
  const [first = ''] = files
  const part = sizeOf(first) / size
  const check = ['check', '-s', 'balancednoautoconversion', 'ordereddates']
  lines.push({
    name: `hledger check of the first of ${files.length} files`,
    measured: await runOther('hledger', ['-f', first, ...check]),
    share: part,
  })
  lines.push({
    name: 'ledger balance of that file',
    measured: await runOther('ledger', ['-f', first, 'balance']),
    share: part,
  })
  const interference = await measureAuditInterference(cluster, database, cleanUp, rounds, verifications)
  const share = shareOfCopy(turns, 'verify')
  return [
    `# Finance: ${written.toLocaleString('en')} events, journals in ${files.length} files of ${Math.round(size / 2 ** 20)} MiB`,
    '',
    ...(await describeRun(cluster)).map((line) => `- ${line}`),
    '',
    ...table(lines, written),
    '',
    `\`verify\` has ${share.toFixed(2)} of the speed of COPY (${verdict(share >= MIN_SHARE_OF_COPY, `≥ ${MIN_SHARE_OF_COPY}`)})`,
    '',
    ...interferenceLines(interference),
  ].join('\n')
}

interface Audit {
  run(...args: string[]): Promise<Measured>
  /** Starts a command without waiting for its end. */
  start(...args: string[]): ChildProcess
}

/** Runs the audit commands of a checkout, with the flags of its `npm run audit`. */
function auditOf(folder: string, { serviceUrl, ownerUrl }: DatabaseUrls): Audit {
  const command = [...flagsOf(folder, 'audit'), join(folder, 'scripts/audit.ts')]
  const cache = join(folder, 'node_modules/.cache/compiled')
  const env = { NODE_COMPILE_CACHE: cache, DATABASE_URL: serviceUrl, DATABASE_OWNER_URL: ownerUrl }
  return {
    run: async (...args) => {
      progress(`audit ${args.join(' ')}`)
      return runMeasured(process.execPath, [...command, ...args], env)
    },
    start: (...args) =>
      spawn(process.execPath, [...command, ...args], { env: { ...process.env, ...env }, stdio: 'ignore' }),
  }
}

/** Reads all events as PostgreSQL sends them, and discards them. */
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

/** Null when the program is not installed. */
async function runOther(program: string, args: readonly string[]): Promise<Measured | null> {
  progress(program)
  try {
    return await runMeasured(program, args, {})
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function interferenceLines({ perSecond, alone, verified }: AuditInterference): string[] {
  return [...verified].map(([name, { p99, starting }]) => {
    const growth = p99 / alone
    const times = `${growth.toFixed(2)} times; ${verdict(growth <= 1.25, '≤ 1.25')}`
    const first = `${starting.toFixed(2)} ms in the 5 s in which it started`
    return `The service at half its capacity, ${perSecond} gifts a second: p99 ${alone.toFixed(2)} ms alone, ${p99.toFixed(2)} ms during a verification (${name}; ${times}); ${first}`
  })
}

const verdict = (met: boolean, target: string): string => `${target}: ${met ? 'met' : 'missed'}`

function table(lines: readonly Line[], events: number): string[] {
  const rateOf = ({ measured, share = 1 }: Line): number =>
    measured === null ? Number.NaN : (events * share) / measured.seconds
  const hledger = lines.find(({ name }) => name.startsWith('hledger'))
  const rows = lines.map((line) => {
    const { name, measured, target } = line
    if (measured === null) return `| ${name} | not installed | | | |`
    const { seconds, megabytes } = measured
    const rate = rateOf(line)
    const times = hledger?.measured == null ? null : rate / rateOf(hledger)
    const targets = [
      ...(target === undefined ? [] : [verdict(rate >= target, `≥ ${target.toLocaleString('en')}/s`)]),
      ...(target === undefined ? [] : [verdict(megabytes < MAX_MEMORY_MB, `< ${MAX_MEMORY_MB} MB`)]),
      ...(name.startsWith('verify,') && times !== null
        ? [verdict(times >= MIN_HLEDGER_RATIO, `${times.toFixed(1)} times as fast as hledger, ≥ ${MIN_HLEDGER_RATIO}`)]
        : []),
    ].join('; ')
    const memory = Number.isNaN(megabytes) ? '' : Math.round(megabytes)
    return `| ${name} | ${seconds.toFixed(1)} | ${Math.round(rate).toLocaleString('en')} | ${memory} | ${targets} |`
  })
  return ['| | seconds | events/s | peak MB | target |', '|---|---:|---:|---:|---|', ...rows]
}

const count = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Expected a whole number of 1 or more.')
  return value
}

const options = new Command('npm run bench:audit --')
  .description(
    'Measures verify, rebuild and export on books made by the rules, and for comparison hledger, ledger and COPY',
  )
  .option('--events <n>', 'events of the ledger', count, 1_000_000)
  .option('--rounds <n>', 'turns of COPY and of verify, and of the service alone and during a verification', count, 5)
  .option('--against <folder>', 'only compare with another installed checkout')
  .addOption(
    new Option('--only <what>', 'with --against: the time of verify, or the p99 of a service during it')
      .choices(['verify', 'service'])
      .default('verify'),
  )
  .parse()
  .opts<Options>()
await runAndExit((cleanUp) => measure(options, cleanUp))

/** Node's flags in a script of a checkout's package.json. */
function flagsOf(folder: string, script: string): string[] {
  const scripts: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).scripts
  const command = typeof scripts === 'object' && scripts !== null ? String(Reflect.get(scripts, script)) : ''
  return command.split(' ').filter((word) => word.startsWith('--'))
}
