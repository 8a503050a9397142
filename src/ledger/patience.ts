import type { Store } from './store.ts'

/** The work, of a server that may fall silent over it: then it is cut. */
export async function withPatience<T>(store: Store, until: number, work: Promise<T>): Promise<T> {
  const watchdog = setTimeout(() => store.cut(), Math.max(0, until - performance.now()))
  try {
    return await work
  } finally {
    clearTimeout(watchdog)
  }
}
