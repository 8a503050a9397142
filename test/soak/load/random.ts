import { randomInt } from 'node:crypto'

export function oneOf<T>(list: readonly T[]): T {
  const one = list[randomInt(list.length)]
  if (one === undefined) throw new Error('nothing to choose from')
  return one
}

/** True with this probability. */
export const chance = (percent: number): boolean => randomInt(100) < percent
