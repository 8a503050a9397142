import { median } from '../../../test/harness/load/percentiles.ts'
import { millis, table, times, whole } from '../markdown.ts'
import type { InstancesResults, InstancesTurn } from './measure.ts'

const medianOf = (turns: readonly InstancesTurn[], field: keyof InstancesTurn): number =>
  median(turns.map((turn) => turn[field]))

const ratio = (turns: readonly InstancesTurn[], others: readonly InstancesTurn[], field: keyof InstancesTurn): number =>
  median(turns.map((turn, i) => turn[field] / (others[i] ?? turn)[field]))

/** Gifts of several instances, each setup against one instance. */
export function instancesReport(heading: readonly string[], results: InstancesResults): string {
  const lines = [...results].flatMap(([connections, setups]) =>
    [...setups].map(([name, turns]) => {
      const one = setups.get('one') ?? turns
      return [
        `${name}, ${connections} connections`,
        whole(medianOf(turns, 'perSecond')),
        times(ratio(turns, one, 'perSecond')),
        millis(medianOf(turns, 'p50')),
        millis(medianOf(turns, 'p99')),
        whole(medianOf(turns, 'writer')),
        times(ratio(turns, one, 'writer')),
        whole(medianOf(turns, 'others')),
        whole(medianOf(turns, 'postgres')),
      ]
    }),
  )
  const cpu = (name: string): string => `CPU of ${name}, µs a gift`
  return [
    '# Gifts of several instances',
    '',
    ...heading.map((line) => `- ${line}`),
    '',
    ...table(
      [
        'instances',
        'gifts/s',
        'of one instance',
        'p50 ms',
        'p99 ms',
        cpu('the writer'),
        'of a lone one',
        cpu('the others'),
        cpu('PostgreSQL'),
      ],
      lines,
    ),
  ].join('\n')
}
