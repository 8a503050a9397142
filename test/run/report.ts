import { dirname } from 'node:path'
import type { FileResult } from './results.ts'

const SLOWEST = 20
const MAX_FAILURES = 20
const MAX_LINES = 40

/** The end of a run: what failed and why, the slowest files, each folder's sum, and the counts. */
export function report(
  results: readonly FileResult[],
  run: { readonly wallMs: number; readonly postgresMs: number },
): string {
  const failed = results.flatMap(({ file, failures }) => failures.map((failure) => ({ file, ...failure })))
  const passed = sum(results, ({ passed }) => passed)
  const skipped = sum(results, ({ skipped }) => skipped)
  return [
    ...failed.slice(0, MAX_FAILURES).map(({ file, name, details }) => `\n${file} > ${name}\n${firstLines(details)}`),
    '',
    `The ${Math.min(SLOWEST, results.length)} slowest files (wall and CPU seconds):`,
    ...results
      .toSorted((a, b) => b.wallMs - a.wallMs)
      .slice(0, SLOWEST)
      .map(({ file, wallMs, cpuMs }) => row(wallMs, cpuMs, file)),
    '',
    'Folders (wall and CPU seconds, files):',
    ...[...Map.groupBy(results, ({ file }) => dirname(file).split('/').slice(0, 2).join('/'))]
      .map(([folder, files]) => ({
        folder,
        files,
        wallMs: sum(files, ({ wallMs }) => wallMs),
        cpuMs: sum(files, ({ cpuMs }) => cpuMs),
      }))
      .toSorted((a, b) => b.cpuMs - a.cpuMs)
      .map(({ folder, files, wallMs, cpuMs }) => row(wallMs, cpuMs, `${folder} (${files.length})`)),
    '',
    ...(failed.length === 0 ? [] : ['Failed:', ...failed.map(({ file, name }) => `  ${file} > ${name}`), '']),
    `${seconds(run.wallMs).trim()} s; CPU ${seconds(sum(results, ({ cpuMs }) => cpuMs)).trim()} s, and of PostgreSQL ${seconds(run.postgresMs).trim()} s`,
    `# { total: ${passed + failed.length + skipped}, pass: ${passed}, fail: ${failed.length}, skip: ${skipped} }`,
    `${passed} passed, ${failed.length} failed, ${skipped} skipped`,
  ].join('\n')
}

/** A line for a file that has ended. */
export const fileLine = ({ file, wallMs, cpuMs, failures }: FileResult): string =>
  `${failures.length === 0 ? 'ok    ' : 'FAILED'} ${row(wallMs, cpuMs, file)}`

const row = (wallMs: number, cpuMs: number, name: string): string => `${seconds(wallMs)} ${seconds(cpuMs)}  ${name}`

const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(7)

const firstLines = (text: string): string => text.split('\n').slice(0, MAX_LINES).join('\n')

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0)
