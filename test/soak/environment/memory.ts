/** The memory of a process, in bytes. */
export interface MemoryUse {
  readonly heap: number
  readonly resident: number
}

export interface Sample extends MemoryUse {
  readonly at: number
}

/** The memory of a process after its warm-up and at its end. */
export interface Memory {
  readonly seconds: number
  readonly warm: MemoryUse
  readonly end: MemoryUse
}

/** Shares of a process's lifetime: its warm-up, and the window of a median. */
const WARM_UP_SHARE = 0.3
const WINDOW_SHARE = 0.1
/** The limit of the memory at the end, as a multiple of that after the warm-up. */
const MAX_GROWTH = 1.2

export const parts = ['heap', 'resident'] as const

/** Uses medians, as the heap varies with every garbage collection. Needs at least one sample; samples are in order. */
export function memoryOf(life: readonly Sample[]): Memory {
  const warm = Math.floor(life.length * WARM_UP_SHARE)
  const window = Math.ceil(life.length * WINDOW_SHARE)
  return {
    seconds: secondsOf(life),
    warm: medianUse(life.slice(warm, warm + window)),
    end: medianUse(life.slice(-window)),
  }
}

export const secondsOf = (life: readonly Sample[]): number => ((life.at(-1)?.at ?? 0) - (life[0]?.at ?? 0)) / 1000

export const grew = ({ warm, end }: Memory, part: (typeof parts)[number]): boolean =>
  end[part] > warm[part] * MAX_GROWTH

const medianUse = (samples: readonly Sample[]): MemoryUse => ({
  heap: median(samples.map(({ heap }) => heap)),
  resident: median(samples.map(({ resident }) => resident)),
})

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
