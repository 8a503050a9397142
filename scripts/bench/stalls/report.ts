import { MAX_P99_MS, type Stall } from './measure.ts'

/** What others had to wait beside each route, the longest first. */
export function stallReport(heading: readonly string[], stalls: readonly Stall[]): string {
  const sorted = stalls.toSorted((a, b) => b.others.p99 - a.others.p99)
  const missed = sorted.filter(({ others }) => others.p99 > MAX_P99_MS).length
  return [
    "# /healthz of others beside each route's dearest request",
    '',
    ...heading.map((line) => `- ${line}`),
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
