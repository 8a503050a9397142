import type { Allowance } from './allowance.ts'
import { MAX_P99_MS, type Stall } from './measure.ts'

/** The latency of others by route, longest first. */
export function stallReport(heading: readonly string[], stalls: readonly Stall[]): string {
  const sorted = stalls.toSorted((a, b) => b.others.p99 - a.others.p99)
  const missed = sorted.filter(({ others }) => others.p99 > MAX_P99_MS).length
  return [
    "# Latency of /healthz during each route's costliest request",
    '',
    ...heading.map((line) => `- ${line}`),
    `- ${stalls.length} routes; p99 within ${MAX_P99_MS} ms: ${missed === 0 ? 'met' : `missed by ${missed}`}`,
    '',
    '| route | costliest request | status | answer, ms | p50 of others, ms | p99 | max |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: |',
    ...sorted.map(({ route, request, status, answerMs, others }) => {
      const figures = [answerMs, others.p50, others.p99, others.max].map((ms) => ms.toFixed(1))
      return `| ${[route, request, status, ...figures].join(' | ')} |`
    }),
  ].join('\n')
}

/** What a user gets who uses up the rate limit, and the latency of others meanwhile. */
export function allowanceReport(heading: readonly string[], { quiet, uses }: Allowance): string {
  return [
    '# Gifts of others while a user uses up the rate limit',
    '',
    ...heading.map((line) => `- ${line}`),
    `- others alone: p50 ${quiet.p50.toFixed(1)} ms, p99 ${quiet.p99.toFixed(1)} ms`,
    '',
    '| requests | accepted a minute | CPU of Node, µs each | of PostgreSQL | p99 of others, ms | p99 / alone |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...uses.map(({ kind, requests, node, postgres, others }) => {
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
