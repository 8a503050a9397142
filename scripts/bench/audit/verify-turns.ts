import { median } from '../../../test/harness/load/percentiles.ts'
import { roundRobin } from '../bench.ts'
import type { Measured } from './run.ts'

/** What each contender took, turn by turn; `copy` is one of them. */
export type Turns = ReadonlyMap<string, Measured[]>

const COPY = 'copy'

/** Lets a plain COPY and verifications take turns, so that a machine whose speed changes treats them alike. */
export async function alternateWithCopy(
  rounds: number,
  copy: () => Promise<Measured>,
  verifications: Readonly<Record<string, () => Promise<Measured>>>,
): Promise<Turns> {
  const contenders = Object.entries({ [COPY]: copy, ...verifications })
  const turns = new Map<string, Measured[]>(contenders.map(([name]) => [name, []]))
  await roundRobin(rounds, contenders, async ([name, run]) => void turns.get(name)?.push(await run()))
  return turns
}

/** The turn that took as long as half of them at most. */
export function middleOf(turns: readonly Measured[] = []): Measured {
  const middle = turns.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(turns.length / 2)]
  if (middle === undefined) throw new Error('nothing was measured')
  return middle
}

/** How fast a contender is, as a multiple of another's speed: the median of each round's. */
function speedRatio(turns: Turns, name: string, other: string): number {
  const others = turns.get(other) ?? []
  return median((turns.get(name) ?? []).map(({ seconds }, i) => (others[i]?.seconds ?? Number.NaN) / seconds))
}

export const shareOfCopy = (turns: Turns, name: string): number => speedRatio(turns, name, COPY)

/** Compares the verification of another checkout with this one's. */
export function verifyTable(turns: Turns, events: number): string {
  const lines = [...turns.keys()].map((name) => {
    const { seconds, megabytes } = middleOf(turns.get(name))
    const memory = Number.isNaN(megabytes) ? '' : Math.round(megabytes)
    const time = 1 / speedRatio(turns, name, 'ours')
    return `| ${name} | ${seconds.toFixed(2)} | ${memory} | ${shareOfCopy(turns, name).toFixed(2)} | ${time.toFixed(2)} |`
  })
  const header = `| verify, ${events.toLocaleString('en')} events | seconds | peak MB | speed, of COPY's | time, of ours |`
  return [header, '|---|---:|---:|---:|---:|', ...lines].join('\n')
}
