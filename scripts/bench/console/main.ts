import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Command, InvalidArgumentError } from 'commander'
import { median, percentile } from '../../../test/harness/load/percentiles.ts'
import { HelperProcess } from '../../../test/harness/process/child-process-rpc.ts'
import { growBooks } from '../audit/books.ts'
import { progress } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { cpuOf, cpuOfCluster } from '../profile/cpu.ts'
import { type BenchCluster, startCluster } from '../run/cluster.ts'
import { keys } from '../run/keys.ts'
import { describeRun } from '../run/machine.ts'
import { runAndExit } from '../run/run-and-exit.ts'
import { type Server, Servers } from '../run/servers.ts'
import { seed } from '../seed.ts'
import { type BenchedPage, benchedPages } from './paths.ts'
import { StaffBrowser } from './staff-browser.ts'
import { approvals, makeStaffWork } from './staff-work.ts'

/** Staff who click at the same moment. */
const STAFF = 20
/** Between two moments: the answers are read. */
const PAUSE_MS = 100
/** What 95 of 100 pages must not take longer than until their first byte. */
const MAX_PAGE_MS = 100
const CONNECTIONS = 64
/** Of the instance that only staff use. */
const LOWER_PRIORITY = 10
const INDEX_POLL_MS = 100

interface Options {
  readonly events: number
  readonly clicks: number
  readonly rounds: number
  readonly seconds: number
  readonly only?: string
}

async function measure(options: Options, cleanUp: AsyncDisposableStack): Promise<string> {
  const cluster = await startCluster(cleanUp, { statements: false })
  const database = await cluster.create('books')
  await seed(database)
  progress(`writing books of ${options.events} events`)
  await growBooks(database, options.events)
  const servers = new Servers(cluster.folder, cleanUp)
  const server = await servers.ours(database, [], approvals)
  await makeStaffWork(server.port)
  progress('indexing')
  await untilIndexed(cluster)
  await cluster.asOwner(database, 'vacuum (analyze)')
  await cluster.asAdmin(['checkpoint'])
  const staff = await openBrowsers(server.port, cleanUp)
  const all = await benchedPages(cluster, 'books')
  const pages = all.filter(({ name, paths }) => paths.length > 0 && (options.only ?? name) === name)

  const lines = [
    `| page, of ${STAFF} staff who click at once | median ms | p95 ms | at most ${MAX_PAGE_MS} | CPU ms a page | of PostgreSQL |`,
    '|---|---:|---:|---|---:|---:|',
  ]
  const usage = () => ({ service: cpuOf(server.pid), postgres: cpuOfCluster(cluster.postmaster) })
  for (const page of pages) lines.push(await measurePage(page, staff, options.clicks, usage))
  lines.push(await measureMix(pages, staff, options.clicks, usage))
  if (options.only === undefined) {
    const generator = new HelperProcess(new URL('../load/generator.ts', import.meta.url), {
      JWT_SECRET: keys.JWT_SECRET,
      KEYED: '0',
    })
    cleanUp.defer(() => generator.stop())
    const beside = `Gifts (${CONNECTIONS} connections) beside ${STAFF} staff who open a page a second`
    const ratio = await measureGifts(server, generator, pages, staff, options)
    const other = await servers.ours(database, [], approvals)
    setPriority(other.pid, LOWER_PRIORITY)
    const apart = await measureGifts(server, generator, pages, await openBrowsers(other.port, cleanUp), options)
    lines.push(
      '',
      `${beside}, of gifts alone (asked: 0.97), medians of ${options.rounds} pairs: ${ratio}; on an instance of their own with nice ${LOWER_PRIORITY}: ${apart}.`,
    )
  }
  return ['# The console', '', ...(await describeRun(cluster)).map((line) => `- ${line}`), '', ...lines].join('\n')
}

async function untilIndexed(cluster: BenchCluster): Promise<void> {
  const behind = `select 1 from ledger_cursors c, ledger_head h where c.name = 'indexes' and c.position < h.position`
  while ((await cluster.ask(behind, 'books')).length > 0) await sleep(INDEX_POLL_MS)
}

/** Microseconds of CPU so far. */
type Usage = () => { readonly service: number; readonly postgres: number }

/** All staff open addresses of one page at the same moment, again and again. */
async function measurePage(
  { name, paths }: BenchedPage,
  staff: readonly StaffBrowser[],
  clicks: number,
  usage: Usage,
): Promise<string> {
  let next = 0
  const click = () => Promise.all(staff.map((browser) => browser.open(paths[next++ % paths.length] ?? '')))
  // The first ones warm up.
  await click()
  return measureClicks(name, click, clicks, usage)
}

/** Each of the staff opens another page. */
async function measureMix(
  pages: readonly BenchedPage[],
  staff: readonly StaffBrowser[],
  clicks: number,
  usage: Usage,
): Promise<string> {
  const click = () => Promise.all(staff.map((browser) => browser.open(anyPathOf(pages))))
  return measureClicks('any page', click, clicks * 5, usage)
}

async function measureClicks(
  name: string,
  click: () => Promise<readonly number[]>,
  clicks: number,
  usage: Usage,
): Promise<string> {
  const before = usage()
  const times: number[] = []
  for (let i = 0; i < clicks; i += 1) {
    times.push(...(await click()))
    await sleep(PAUSE_MS)
  }
  const after = usage()
  const sorted = times.toSorted((a, b) => a - b)
  const [p50, p95] = [percentile(sorted, 50), percentile(sorted, 95)]
  const cpu = [after.service - before.service, after.postgres - before.postgres].map((micros) =>
    (micros / 1_000 / times.length).toFixed(1),
  )
  progress(`${name}: median ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`)
  return `| ${name} | ${p50.toFixed(1)} | ${p95.toFixed(1)} | ${p95 <= MAX_PAGE_MS ? 'met' : 'missed'} | ${cpu.join(' | ')} |`
}

function anyPathOf(pages: readonly BenchedPage[]): string {
  const { paths = [] } = pages[Math.floor(Math.random() * pages.length)] ?? {}
  return paths[Math.floor(Math.random() * paths.length)] ?? '/console'
}

async function openBrowsers(port: number, cleanUp: AsyncDisposableStack): Promise<readonly StaffBrowser[]> {
  const staff = Array.from({ length: STAFF }, () => new StaffBrowser(port))
  cleanUp.defer(() => staff.forEach((browser) => browser.close()))
  await Promise.all(staff.map((browser, i) => browser.signIn(`staff-${i}`)))
  return staff
}

/** Gifts with and without staff, in turns; each of the staff opens a page a second. Answers the median of the ratios. */
async function measureGifts(
  { port }: Server,
  generator: HelperProcess,
  pages: readonly BenchedPage[],
  staff: readonly StaffBrowser[],
  { rounds, seconds }: Options,
): Promise<string> {
  await generator.call({ kind: 'warm', port, mix: 'uniform' }, Measured)
  const gifts = async (): Promise<number> =>
    (await generator.call({ kind: 'closed', port, mix: 'uniform', connections: CONNECTIONS, seconds }, Measured))
      .perSecond
  const besideStaff = async (): Promise<number> => {
    let isOver = false
    const clicking = staff.map(async (browser, i) => {
      await sleep((i * 1_000) / STAFF)
      while (!isOver) {
        await browser.open(anyPathOf(pages))
        await sleep(1_000)
      }
    })
    const perSecond = await gifts()
    isOver = true
    await Promise.all(clicking)
    return perSecond
  }
  const ratios: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    // Who is first alternates.
    const first = round % 2 === 0 ? await gifts() : await besideStaff()
    const second = round % 2 === 0 ? await besideStaff() : await gifts()
    const ratio = round % 2 === 0 ? second / first : first / second
    progress(`round ${round + 1}: gifts beside staff ${ratio.toFixed(3)} of those alone`)
    ratios.push(ratio)
  }
  return median(ratios).toFixed(3)
}

const count = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError('Expected a whole number of 1 or more.')
  return value
}

const options = new Command('npm run bench:console --')
  .description('Measures pages of the console on a long ledger, and gifts beside staff who use it')
  .option('--events <n>', 'events of the ledger', count, 1_000_000)
  .option('--clicks <n>', 'moments at which all staff click, for each page', count, 10)
  .option('--rounds <n>', 'pairs of turns of gifts', count, 12)
  .option('--seconds <n>', 'seconds of each turn', count, 3)
  .option('--only <page>', 'one page')
  .parse()
  .opts<Options>()
await runAndExit((cleanUp) => measure(options, cleanUp))
