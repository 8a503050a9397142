/** What a process held at a moment, in bytes. */
export interface Held {
  readonly heap: number
  readonly resident: number
}

export interface Sample extends Held {
  readonly at: number
}

/** What one process held when it was warm and at the end of its life. */
export interface Memory {
  readonly seconds: number
  readonly warm: Held
  readonly end: Held
}

/** The part of a life after which memory is warm, and the part over which it is looked at. */
const WARM_UP = 0.3
const WINDOW = 0.1
/** Memory may grow by this much from when it was warm. */
const GROWTH = 1.2

export const parts = ['heap', 'resident'] as const

/** Medians, because the heap goes up and down with every collection. Samples in order, one at least. */
export function memoryOf(life: readonly Sample[]): Memory {
  const warm = Math.floor(life.length * WARM_UP)
  const window = Math.ceil(life.length * WINDOW)
  return {
    seconds: secondsOf(life),
    warm: middle(life.slice(warm, warm + window)),
    end: middle(life.slice(-window)),
  }
}

export const secondsOf = (life: readonly Sample[]): number => ((life.at(-1)?.at ?? 0) - (life[0]?.at ?? 0)) / 1000

export const grew = ({ warm, end }: Memory, part: (typeof parts)[number]): boolean => end[part] > warm[part] * GROWTH

const middle = (samples: readonly Sample[]): Held => ({
  heap: median(samples.map(({ heap }) => heap)),
  resident: median(samples.map(({ resident }) => resident)),
})

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
