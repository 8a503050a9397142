import { median } from '../../test/harness/load/percentiles.ts'

/** The figures of one turn, by name. */
export type Turn = Readonly<Record<string, number>>

export interface Contender {
  readonly name: string
  readonly turn: () => Promise<Turn>
}

/** The turns of each contender, in the order of the rounds. */
export type Turns = Map<string, Turn[]>

/** Prints progress on stderr, as stdout is for the report. */
export function progress(text: string): void {
  process.stderr.write(`${Math.round(performance.now() / 1000)} s: ${text}\n`)
}

/** Each contender has a turn in each round; who is first changes from round to round. Adds to `turns`. */
export async function takeTurns(
  rounds: number,
  contenders: readonly Contender[],
  turns: Turns = new Map(),
): Promise<Turns> {
  for (let round = 0; round < rounds; round += 1) {
    const first = (turns.values().next().value?.length ?? 0) % contenders.length
    for (const { name, turn } of [...contenders.slice(first), ...contenders.slice(0, first)]) {
      const figures = await turn()
      turns.set(name, [...(turns.get(name) ?? []), figures])
      const shown = Object.entries(figures).map(([figure, value]) => `${figure} ${formatNumber(value)}`)
      progress(`${name}: ${shown.slice(0, 4).join(', ')}`)
    }
  }
  return turns
}

/**
 * A table of medians, and of the medians of each round's ratios between the first contender and each other one, in which
 * a temporary slowdown of the machine cancels out.
 */
export function compared(title: string, turns: Turns): string {
  const [[first, own] = ['', []], ...others] = turns
  const rowOf = (figure: string): string[] => {
    const at = (each: readonly Turn[], round: number): number => each[round]?.[figure] ?? Number.NaN
    const medianOf = (valueOf: (round: number) => number): string => {
      const values = own.map((_, round) => valueOf(round)).filter(Number.isFinite)
      return values.length === 0 ? '–' : formatNumber(median(values))
    }
    const medians = [...turns.values()].map((each) => medianOf((round) => at(each, round)))
    const ratios = others.map(([, theirs]) => medianOf((round) => at(own, round) / at(theirs, round)))
    return [figure, ...medians, ...ratios]
  }
  const head = [title, ...turns.keys(), ...others.map(([name]) => `${first} / ${name}`)]
  return table(head, Object.keys(own[0] ?? {}).map(rowOf))
}

/** In markdown. */
export const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

export const formatNumber = (value: number): string =>
  value >= 100 || Number.isInteger(value)
    ? Math.round(value).toLocaleString('en-US')
    : value.toFixed(value >= 10 ? 1 : 2)
