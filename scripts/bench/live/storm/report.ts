import { percentile } from '../../../../test/harness/load/percentiles.ts'
import { type Line, table, whole } from '../../markdown.ts'
import type { Compared, Returned } from '../room-sockets/jobs.ts'
import type { ProcessLoad } from '../service/process-load.ts'
import { type Calls, callNames, type LoadReport } from './jobs.ts'

export const faultNames = ['kill', 'restart', 'replacement'] as const
export type Fault = (typeof faultNames)[number]

const titles: { readonly [Name in Fault]: string } = {
  kill: '`kill -9`, then a new service on the same port; times from when it is ready',
  restart: 'SIGTERM, then a new service on the same port when the old one has ended; times from SIGTERM',
  replacement:
    'SIGTERM beside a new service on another port, where new connections go from then on; times from SIGTERM',
}

/** All sockets came back after a fault. */
export interface Storm {
  readonly column: string
  readonly fault: Fault
  /** How long the service took to end; null when it was killed. */
  readonly exitMs: number | null
  /** From the fault until the new service was ready; null when it was so before. */
  readonly awayMs: number | null
  /** When each socket had `ready`, and when it was live again, ascending. */
  readonly readyMs: readonly number[]
  readonly backMs: readonly number[]
  /** Of each process of sockets. */
  readonly returned: readonly Returned[]
  readonly compared: readonly Compared[]
  /** Connections that the kernel dropped as an accept queue was full. */
  readonly overflows: number
  /** Requests before the fault, and from then until all sockets were back. */
  readonly quiet: LoadReport
  readonly meanwhile: LoadReport
  readonly load: ProcessLoad
}

const SECONDS = [1, 2, 5, 10, 20, 30, 60]

export function reportOf(sockets: number, storms: readonly Storm[]): string {
  return [
    `## ${whole(sockets)} sockets come back, half of them to one room and the others to rooms of 100`,
    ...faultNames.flatMap((fault) => {
      const columns = storms.filter((storm) => storm.fault === fault)
      const row = (name: string, cell: (storm: Storm) => string | number): Line => [name, ...columns.map(cell)]
      const sum = (name: string, of: (returned: Returned) => number): Line =>
        row(name, ({ returned }) => whole(returned.reduce((total, each) => total + of(each), 0)))
      const compared = (name: string, of: (one: Compared) => number): Line =>
        row(name, (storm) => whole(storm.compared.reduce((total, each) => total + of(each), 0)))
      return [
        '',
        `**${titles[fault]}**`,
        '',
        ...table(
          ['', ...columns.map(({ column }) => column)],
          [
            row('the service had ended / another one was ready after, s', ({ exitMs, awayMs }) =>
              [exitMs, awayMs].map((ms) => (ms === null ? '–' : seconds(ms))).join(' / '),
            ),
            row('half, 90% and all sockets have `ready`, s', ({ readyMs, returned }) => spread(readyMs, returned)),
            row('half, 90% and all sockets are live, s', ({ backMs, returned }) => spread(backMs, returned)),
            row(`live after ${SECONDS.join(', ')} s`, ({ backMs }) =>
              SECONDS.map((limit) => whole(backMs.filter((ms) => ms <= limit * 1_000).length)).join(' / '),
            ),
            sum('never live', ({ missing }) => missing),
            sum('attempts closed with 4100', ({ sentAway }) => sentAway),
            sum('attempts answered 503', ({ busy }) => busy),
            sum('attempts not ready within 15 s', ({ timedOut }) => timedOut),
            sum('attempts when nobody listened', ({ refused }) => refused),
            sum('channels refused with `retry`', ({ retried }) => retried),
            row('connections dropped by a full accept queue', ({ overflows }) => whole(overflows)),
            ...callNames.flatMap((name) => [
              row(`${name}: p50 / p99 / max, ms, before`, ({ quiet }) => latency(quiet[name])),
              row('… meanwhile', ({ meanwhile }) => latency(meanwhile[name])),
              row('… over 2 s / reset / nobody listened / failed, of', ({ meanwhile }) => failures(meanwhile[name])),
            ]),
            compared('sockets whose events are not those of the ledger', ({ different }) => different),
            compared('frames twice, out of order or too early, so far', ({ faults }) => faults),
            row('unexpected refusals, so far', (storm) => unexpectedOf(storm.compared)),
            compared('rooms not resumed, so far', ({ notResumed }) => notResumed),
            row("sockets' processes: late by (p99), CPU of a core", ({ returned }) =>
              returned.map((each) => busy(each.load)).join('; '),
            ),
            row("requests' process", (storm) => busy(storm.load)),
          ],
        ),
      ]
    }),
  ].join('\n')
}

/** Those that are missing never came. */
function spread(ms: readonly number[], returned: readonly Returned[]): string {
  const never = returned.flatMap(({ missing }) => Array.from({ length: missing }, () => Infinity))
  return [50, 90, 100].map((percent) => seconds(percentile([...ms, ...never], percent))).join(' / ')
}

function unexpectedOf(compared: readonly Compared[]): string {
  const all = compared.flatMap(({ unexpected }) => unexpected).map(([what, count]) => `${count} of ${what}`)
  return all.length === 0 ? '–' : all.join('; ')
}

const seconds = (ms: number): string => (Number.isFinite(ms) ? (ms / 1_000).toFixed(1) : 'never')
const latency = ({ answered, p50, p99, max }: Calls): string =>
  answered === 0 ? '–' : [p50, p99, max].map((ms) => ms.toFixed(ms < 10 ? 1 : 0)).join(' / ')
const failures = ({ answered, slow, reset, refused, failed }: Calls): string =>
  `${slow} / ${reset} / ${refused} / ${failed}, ${whole(answered + reset + refused + failed)}`
const busy = ({ lagP99, cpu }: ProcessLoad): string => `${lagP99.toFixed(0)} ms, ${(cpu * 100).toFixed(0)}%`
