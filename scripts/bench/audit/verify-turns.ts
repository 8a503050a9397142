import { median } from '../../../test/harness/load/percentiles.ts'
import { roundRobin } from '../bench.ts'
import type { Measured } from './run.ts'

/** Results of each contender, one of which is `copy`, turn by turn. */
export type Turns = ReadonlyMap<string, Measured[]>

const COPY = 'copy'

/** Lets a plain COPY and verifications take turns, so that changes of the machine's speed affect all of them alike. */
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

/** The turn with the median duration. */
export function medianTurn(turns: readonly Measured[] = []): Measured {
  const turn = turns.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(turns.length / 2)]
  if (turn === undefined) throw new Error('nothing was measured')
  return turn
}

/** The speed of a contender as a multiple of another's: the median of each round's ratio. */
function speedRatio(turns: Turns, name: string, other: string): number {
  const others = turns.get(other) ?? []
  return median((turns.get(name) ?? []).map(({ seconds }, i) => (others[i]?.seconds ?? Number.NaN) / seconds))
}

export const shareOfCopy = (turns: Turns, name: string): number => speedRatio(turns, name, COPY)

/** Compares the verification of another checkout with this one's. */
export function verifyTable(turns: Turns, events: number): string {
  const lines = [...turns.keys()].map((name) => {
    const { seconds, megabytes } = medianTurn(turns.get(name))
    const memory = Number.isNaN(megabytes) ? '' : Math.round(megabytes)
    const time = 1 / speedRatio(turns, name, 'ours')
    return `| ${name} | ${seconds.toFixed(2)} | ${memory} | ${shareOfCopy(turns, name).toFixed(2)} | ${time.toFixed(2)} |`
  })
  const header = `| verify, ${events.toLocaleString('en')} events | seconds | peak MB | speed, of COPY's | time, of ours |`
  return [header, '|---|---:|---:|---:|---:|', ...lines].join('\n')
}
