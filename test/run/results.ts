/** The name of the entry behind the tests of a file. */
export const END_OF_FILE = 'end of the file'

/** What became of one test file. */
export interface FileResult {
  readonly file: string
  readonly wallMs: number
  /** CPU time of the process that ran it, and of the processes that it started and that have ended. */
  readonly cpuMs: number
  readonly passed: number
  readonly skipped: number
  readonly failures: readonly Failure[]
}

interface Failure {
  /** The names of the tests around it, from the outermost to the assertion. */
  readonly name: string
  /** Difference, stack and place, as text; empty where there are none. */
  readonly details: string
}

/** From a worker to the process that started it: a file has ended; and then it wants another one. */
export type WorkerMessage = { readonly ended: FileResult } | 'next'
