import { millis, table, times, verdict, whole } from '../markdown.ts'
import { type Field, medianOf, ratio, type Turn } from '../measure.ts'
import type { ReadScenario } from './measure.ts'

const titles: Readonly<Record<string, string>> = { gift: 'a gift', app: 'mix: 80% reads, 20% gifts' }

/** Reads that need no database. */
const inMemory: readonly string[] = ['decorations']

/** Reads next to gifts, the naive way and HTTP alone. */
export function readsReport(heading: readonly string[], scenarios: readonly ReadScenario[]): string {
  return [
    '# Reads',
    '',
    ...heading.map((line) => `- ${line}`),
    '- Requests a second, with one connection the p50 in ms; CPU is that of Node + PostgreSQL',
    '',
    ...table(
      [
        ['read', 'connections'],
        ['ours', '(a) naive', '(b) no database'],
        ['ours/(a)', 'ours/(b)', 'ours/gifts'],
        ['p99 ms: ours', '(a)'],
        ['CPU a request, µs: ours', '(a)'],
        ['target'],
      ].flat(),
      scenarios.map((scenario) => lineOf(scenario, giftOf(scenarios, scenario))),
    ),
  ].join('\n')
}

const giftOf = (scenarios: readonly ReadScenario[], { connections }: ReadScenario): readonly Turn[] =>
  scenarios.find((other) => other.subject === 'gift' && other.connections === connections)?.turns.ours ?? []

function lineOf({ subject, connections, turns }: ReadScenario, gift: readonly Turn[]): string[] {
  const { ours, naive, floor } = turns
  const field: Field = connections === 1 ? 'p50' : 'perSecond'
  const value = (of: readonly Turn[]): string =>
    of.length === 0 ? '–' : (field === 'p50' ? millis : whole)(medianOf(of, field))
  const to = (others: readonly Turn[]): number => (others.length === 0 ? Number.NaN : ratio(ours, others, field))
  const toGift = subject === 'gift' ? Number.NaN : to(gift)
  return [
    connections === 64 ? `**${titles[subject] ?? subject}**` : (titles[subject] ?? subject),
    connections === 1 ? 'alone' : String(connections),
    ...[ours, naive, floor].map(value),
    ...[to(naive), to(floor), toGift].map(times),
    ...[ours, naive].map((of) => millis(medianOf(of, 'p99'))),
    ...[ours, naive].map((of) => `${whole(medianOf(of, 'node'))} + ${whole(medianOf(of, 'postgres'))}`),
    targetOf({ subject, connections }, { naive: to(naive), floor: to(floor), gift: toGift }),
  ]
}

/** The targets of these ratios, and whether they are met. */
function targetOf(
  { subject, connections }: Pick<ReadScenario, 'subject' | 'connections'>,
  to: Readonly<Record<'naive' | 'floor' | 'gift', number>>,
): string {
  if (subject === 'gift' || connections === 256) return ''
  if (connections === 1) return subject === 'app' ? '' : verdict(to.naive <= 1, '(a) ≤ 1')
  if (subject === 'app') return verdict(to.naive >= 3, '(a) ≥ 3')
  return [
    verdict(to.naive >= 2, '(a) ≥ 2'),
    verdict(to.gift >= 0.8, 'gifts ≥ 0.8'),
    ...(inMemory.includes(subject) ? [verdict(to.floor >= 0.6, '(b) ≥ 0.6')] : []),
  ].join(', ')
}
