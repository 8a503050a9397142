import type { Reply } from '../storage/head.ts'
import type { Outcome } from './batch.ts'
import type { Command } from './command.ts'

export interface CommandResult {
  readonly reply: Reply
  readonly replayed: boolean
  /** About what the command added to the database. */
  readonly storedBytes: number
}

/** A command whose caller waits for what becomes of it. */
export interface PendingCommand {
  readonly command: Command
  readonly resolve: (settled: CommandResult) => void
  readonly reject: (error: Error) => void
  /** One of a batch that PostgreSQL refused: alone, it fails alone. */
  readonly runAlone: boolean
}

const SHARES = 3
/** A part may be so large in any case: what a batch costs by itself then weighs more than waiting. */
const MIN_SHARE = 32

/**
 * How many of all commands that are here, those on their way included, may go at a time: while one part is on its way
 * and the next one is decided, a third one gathers. In larger parts this process and the database would wait for each
 * other.
 */
export function batchShare(queued: number, inFlight: readonly { readonly commands: readonly unknown[] }[]): number {
  const here = inFlight.reduce((sum, { commands }) => sum + commands.length, queued)
  return Math.max(MIN_SHARE, Math.ceil(here / SHARES))
}

/** The commands that wait, in the order in which they came. */
export class CommandQueue {
  readonly #pending: PendingCommand[] = []

  get length(): number {
    return this.#pending.length
  }

  push(waiting: PendingCommand): void {
    this.#pending.push(waiting)
  }

  /** Takes from the front: so many commands, which ask for so many rows if they are more than one. */
  take(limits: { readonly batch: number; readonly rows: number }): readonly PendingCommand[] {
    let count = 0
    let rows = 0
    for (const { command, runAlone: suspect } of this.#pending) {
      rows += command.reads.length
      if (count > 0 && (suspect || count >= limits.batch || rows > limits.rows)) break
      count += 1
      if (suspect) break
    }
    return this.#pending.splice(0, count)
  }

  takeAll(): readonly PendingCommand[] {
    return this.#pending.splice(0)
  }

  /** To the front again: nothing of them happened. */
  requeue(waiting: readonly PendingCommand[]): void {
    this.#pending.unshift(...waiting)
  }
}

/** Tells everyone what became of their commands; `bug` hears of those that met one. */
export function settleAll(
  waiting: readonly PendingCommand[],
  outcomes: readonly Outcome[],
  bug: (error: unknown, command: Command) => void,
): void {
  waiting.forEach(({ command, resolve, reject }, i) => {
    const outcome = outcomes[i]
    if (outcome !== undefined && 'reply' in outcome) {
      resolve(outcome)
    } else {
      const error = outcome?.bug
      bug(error, command)
      reject(error instanceof Error ? error : new Error('the command failed', { cause: error }))
    }
  })
}

export function rejectAll(waiting: readonly PendingCommand[], error: Error): void {
  for (const { reject } of waiting) reject(error)
}
