import { median } from '../../test/harness/load/percentiles.ts'
import type { AgainstResults } from './gifts/against.ts'
import type { GateResults } from './gifts/gate.ts'
import type { GrowthResults } from './gifts/growth.ts'
import { type HttpResults, implementations, type Turns } from './gifts/over-http.ts'
import type { InProcessResults } from './in-process/in-process.ts'

import { type Line, millis, table, times, verdict, whole } from './markdown.ts'
import { type Field, medianOf, ratio } from './measure.ts'

export interface Results {
  readonly http: HttpResults
  readonly inProcess: InProcessResults | null
  readonly growth: GrowthResults | null
  readonly gate: GateResults | null
  readonly against: AgainstResults | null
}

/** The report of a run, in markdown. */
export function report(heading: readonly string[], { http, inProcess, growth, gate, against }: Results): string {
  return [
    '# POST /api/v1/instant-send: a standard gift to one receiver',
    '',
    ...heading.map((line) => `- ${line}`),
    ...(http.size === 0 ? [] : ['', ...httpTable(http)]),
    ...(inProcess === null ? [] : ['', ...inProcessTable(inProcess)]),
    ...(growth === null ? [] : ['', ...growthTable(growth)]),
    ...(gate === null ? [] : ['', ...gateTable(gate)]),
    ...(against === null ? [] : ['', ...againstTable(against)]),
  ].join('\n')
}

const fields: readonly (readonly [Field, string, (value: number) => string])[] = [
  ['perSecond', 'requests/s', whole],
  ['p50', 'p50 ms', millis],
  ['p99', 'p99 ms', millis],
  ['node', 'CPU of the server, µs a request', whole],
  ['postgres', 'CPU of PostgreSQL, µs a request', whole],
  ['generator', 'CPU of the generator, µs a request', whole],
]

function httpTable(results: HttpResults): string[] {
  const head = ['over HTTP', 'ours', '(a) naive', '(b) no database', 'ours/(a)', 'ours/(b)', 'target']
  const lines = [...results].flatMap(([scenario, turns]) =>
    fields.map(([field, name, format]) => [
      field === 'perSecond' ? `**${scenario}**: ${name}` : name,
      ...implementations.map((implementation) => format(medianOf(turns[implementation], field))),
      times(ratio(turns.ours, turns.naive, field)),
      // The floor does not use PostgreSQL: what would be seen is PostgreSQL's own background work.
      field === 'postgres' ? '–' : times(ratio(turns.ours, turns.floor, field)),
      target(scenario, field, turns),
    ]),
  )
  return table(head, lines)
}

/** The target of a figure, and whether it is met. */
function target(scenario: string, field: Field, { ours, naive, floor }: Turns): string {
  if (field === 'perSecond' && scenario.endsWith(' 64 connections')) {
    const minRatio = scenario.startsWith('uniform') ? 4 : 15
    return [
      verdict(ratio(ours, naive, field) >= minRatio, `(a) ≥ ${minRatio}`),
      verdict(ratio(ours, floor, field) >= 0.5, '(b) ≥ 0.5'),
    ].join(', ')
  }
  if (scenario === 'a lone request') {
    if (field === 'p50') return verdict(ratio(ours, naive, field) <= 1, '(a) ≤ 1')
    if (field === 'p99') return verdict(ratio(ours, naive, field) <= 1.25, '(a) ≤ 1.25')
  }
  return ''
}

function inProcessTable({ executor, limit }: InProcessResults): string[] {
  const both = (field: Field): Line => [whole(medianOf(executor, field)), whole(medianOf(limit, field))]
  const speed = ratio(executor, limit, 'perSecond')
  return table(
    ['in process, batches of 256', 'executor', 'plain SQL', 'executor/SQL', 'target'],
    [
      ['**commands/s**', ...both('perSecond'), times(speed), verdict(speed >= 0.6, '≥ 0.6')],
      ['CPU of Node, µs a command', ...both('node'), times(ratio(executor, limit, 'node')), ''],
      ['CPU of PostgreSQL, µs a command', ...both('postgres'), times(ratio(executor, limit, 'postgres')), ''],
    ],
  )
}

function growthTable({ small, large, lengths }: GrowthResults): string[] {
  const speed = ratio(large, small, 'perSecond')
  const ledger = ({ before, after }: { before: number; after: number }): string =>
    `${whole(before)} to ${whole(after)} events`
  return table(
    ['uniform, 64 connections', ledger(lengths.small), ledger(lengths.large), 'long/young', 'target'],
    [
      [
        '**requests/s**',
        whole(medianOf(small, 'perSecond')),
        whole(medianOf(large, 'perSecond')),
        times(speed),
        verdict(speed >= 0.9, '≥ 0.9'),
      ],
      ...(['p50', 'p99'] as const).map((field) => [
        `${field} ms`,
        millis(medianOf(small, field)),
        millis(medianOf(large, field)),
        times(ratio(large, small, field)),
        '',
      ]),
    ],
  )
}

function gateTable(turns: GateResults): string[] {
  const { without, with: gated } = turns
  const cost = median(gated.map((turn, i) => turn.cost.node - (without[i]?.cost.node ?? 0)))
  return table(
    ['no database, 64 connections', 'without the gate', 'with it', 'with/without', 'target'],
    fields
      .filter(([field]) => field !== 'postgres' && field !== 'generator')
      .map(([field, name, format]) => [
        name,
        format(medianOf(without, field)),
        format(medianOf(gated, field)),
        times(ratio(gated, without, field)),
        field === 'node' ? `${cost.toFixed(1)} µs, ${verdict(cost < 5, '< 5')}` : '',
      ]),
  )
}

function againstTable(results: AgainstResults): string[] {
  const lines = [...results].flatMap(([connections, { ours, other }]) =>
    fields.map(([field, name, format]) => [
      field === 'perSecond' ? `**uniform, ${connections} connections**: ${name}` : name,
      format(medianOf(ours, field)),
      format(medianOf(other, field)),
      times(ratio(ours, other, field)),
    ]),
  )
  return table(['over HTTP', 'this checkout', 'the other', 'this/other'], lines)
}
