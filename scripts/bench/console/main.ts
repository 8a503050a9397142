import { setTimeout as sleep } from 'node:timers/promises'
import { LoadGenerator } from '../../../test/harness/load/load-generator.ts'
import { percentile } from '../../../test/harness/load/percentiles.ts'
import { cpuMsOf, cpuMsWithChildren } from '../../../test/harness/process/cpu-time.ts'
import { writeBooks } from '../audit/books.ts'
import { type Bench, runBench } from '../bench.ts'
import { untilIndexed } from '../requests/measure-requests.ts'
import { compared, formatNumber, progress, table, takeTurns } from '../rounds.ts'
import { startServer } from '../servers.ts'
import { uniformGifts } from '../workload.ts'
import { type Page, pagesOf } from './pages.ts'
import { environment, makeStaffWork, StaffBrowser } from './staff.ts'

/** Staff who click at the same moment. */
const STAFF = 20
/** Between two moments: the answers are read. */
const PAUSE_MS = 100
/** Moments of the mix, as a multiple of those of a page. */
const MIX = 5
const CONNECTIONS = 64

type Console = Awaited<ReturnType<typeof openConsole>>

async function openConsole(bench: Bench) {
  const database = await writeBooks(bench, bench.size(1_000_000, 40_000))
  const server = await startServer(bench, { database, environment })
  await makeStaffWork(server.port)
  progress('indexing')
  await untilIndexed(database)
  await bench.cluster.settle(database)
  const staff = Array.from({ length: STAFF }, () => new StaffBrowser(server.port))
  await Promise.all(staff.map((browser, i) => browser.signIn(`staff-${i}`)))
  const pages = await pagesOf(database)
  return { server, staff, pages: pages.filter(({ paths }) => paths.length > 0) }
}

const anyOf = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(Math.random() * items.length)]
const anyPathOf = (pages: readonly Page[]): string => anyOf(anyOf(pages)?.paths ?? []) ?? '/console'

/** All staff open addresses of one page at the same moment, again and again; in the end any pages. */
async function measurePages(bench: Bench, { server, pages, staff }: Console): Promise<string> {
  const clicks = bench.rounds(10)
  const cpu = () => [cpuMsOf(server.pid), cpuMsWithChildren(bench.cluster.postmaster)]
  const measure = async (name: string, moments: number, pathOf: () => string): Promise<string[]> => {
    const click = () => Promise.all(staff.map((browser) => browser.open(pathOf())))
    // The first one warms up.
    await click()
    const before = cpu()
    const times: number[] = []
    for (let i = 0; i < moments; i += 1) {
      times.push(...(await click()))
      await sleep(PAUSE_MS)
    }
    const sorted = times.toSorted((a, b) => a - b)
    const millis = cpu().map((after, i) => (after - (before[i] ?? 0)) / times.length)
    const figures = [percentile(sorted, 50), percentile(sorted, 95), ...millis].map(formatNumber)
    progress(`${name}: ${figures.join(', ')}`)
    return [name, ...figures]
  }
  const rows: string[][] = []
  for (const { name, paths } of pages) rows.push(await measure(name, clicks, () => anyOf(paths) ?? name))
  rows.push(await measure('any page', clicks * MIX, () => anyPathOf(pages)))
  const head = ['first byte, ms', 'median', 'p95', 'CPU of the service, ms a page', 'CPU of PostgreSQL']
  return table(head, rows)
}

/** Gifts while each of the staff opens a page a second, and without them. */
async function measureGifts(bench: Bench, { server, pages, staff }: Console): Promise<string> {
  const next = uniformGifts()
  const target = { ports: [server.port], connections: CONNECTIONS }
  const gifts = async () => {
    const load = await LoadGenerator.run(target, (generator) => generator.closed(bench.seconds(3), next))
    return { 'gifts/s': load.perSecond, 'p99 ms': load.p99 }
  }
  const besideStaff = async () => {
    let isOver = false
    const clicking = staff.map(async (browser, i) => {
      await sleep((i * 1_000) / STAFF)
      while (!isOver) {
        await browser.open(anyPathOf(pages))
        await sleep(1_000)
      }
    })
    const turn = await gifts()
    isOver = true
    await Promise.all(clicking)
    return turn
  }
  await gifts()
  const contenders = [
    { name: `beside ${STAFF} staff`, turn: besideStaff },
    { name: 'alone', turn: gifts },
  ]
  return compared(`${CONNECTIONS} connections`, await takeTurns(bench.rounds(12), contenders))
}

async function measureConsole(bench: Bench): Promise<string> {
  const opened = await openConsole(bench)
  return [await measurePages(bench, opened), await measureGifts(bench, opened)].join('\n\n')
}

await runBench('npm run bench:console', { console: measureConsole }, false)
