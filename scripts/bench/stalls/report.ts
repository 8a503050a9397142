import type { Allowance } from './allowance.ts'
import { MAX_P99_MS, type Stall } from './measure.ts'

/** What others had to wait beside each route, the longest first. */
export function stallReport(heading: readonly string[], stalls: readonly Stall[]): string {
  const sorted = stalls.toSorted((a, b) => b.others.p99 - a.others.p99)
  const missed = sorted.filter(({ others }) => others.p99 > MAX_P99_MS).length
  return [
    "# /healthz of others beside each route's dearest request",
    '',
    ...heading.map((connection) => `- ${connection}`),
    `- ${stalls.length} routes; p99 within ${MAX_P99_MS} ms: ${missed === 0 ? 'met' : `missed by ${missed}`}`,
    '',
    '| route | dearest request | status | answered in, ms | p50 of others, ms | p99 | max |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: |',
    ...sorted.map(({ route, request, status, answered, others }) => {
      const figures = [answered, others.p50, others.p99, others.max].map((ms) => ms.toFixed(1))
      return `| ${[route, request, status, ...figures].join(' | ')} |`
    }),
  ].join('\n')
}

/** What a user gets who takes all he is allowed, and what others had to wait meanwhile. */
export function allowanceReport(heading: readonly string[], { quiet, taken }: Allowance): string {
  return [
    '# Gifts of others beside a user who takes all he is allowed',
    '',
    ...heading.map((connection) => `- ${connection}`),
    `- others alone: p50 ${quiet.p50.toFixed(1)} ms, p99 ${quiet.p99.toFixed(1)} ms`,
    '',
    '| all he is allowed | requests a minute | CPU of Node, µs each | of PostgreSQL | p99 of others, ms | p99 / alone |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...taken.map(({ kind, requests, node, postgres, others }) => {
      const figures = [
        Math.round(node),
        Math.round(postgres),
        others.p99.toFixed(1),
        (others.p99 / quiet.p99).toFixed(2),
      ]
      return `| ${[kind, requests, ...figures].join(' | ')} |`
    }),
  ].join('\n')
}
