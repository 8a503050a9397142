import type { Reply } from '../storage/event-hash.ts'
import type { Outcome } from './batch.ts'
import type { Command } from './command.ts'
import { assertTransition, type BatchState, batchStates } from './states.ts'

export type CommandResult = Extract<Outcome, { readonly reply: Reply }>

/** A command whose caller waits for its result. */
export interface PendingCommand {
  readonly command: Command
  readonly resolve: (result: CommandResult) => void
  readonly reject: (error: Error) => void
  /** It was in a batch that PostgreSQL rejected: run alone, a faulty command fails alone. */
  readonly mustRunAlone: boolean
}

/** A batch that was sent, or failed before that. */
export interface InFlightBatch {
  readonly id: string
  readonly commands: readonly PendingCommand[]
  /** Gives the callers their replies: the batch is committed. */
  readonly settle: () => void
  state: BatchState
  /** Why it failed. */
  error: unknown
  /** Resolves when it is committed or failed; never rejects. */
  completion: Promise<void>
}

export function enterBatchState(batch: InFlightBatch, state: BatchState): void {
  assertTransition(batchStates, batch.state, state)
  batch.state = state
}

const SHARES = 3
/** Below this size a batch's fixed cost weighs more than waiting for the next one. */
const MIN_SHARE = 32

/**
 * How many commands the next batch may have: a third of all that are queued or in flight. While one third is in flight
 * and the next is being decided, the last gathers; with larger shares this process and the database would wait for each
 * other.
 */
export function batchShare(queued: number, inFlight: readonly { readonly commands: readonly unknown[] }[]): number {
  const all = inFlight.reduce((sum, { commands }) => sum + commands.length, queued)
  return Math.max(MIN_SHARE, Math.ceil(all / SHARES))
}

/** The commands that are not yet in a batch, in the order in which they arrived. */
export class CommandQueue {
  readonly #pending: PendingCommand[] = []

  get length(): number {
    return this.#pending.length
  }

  push(pending: PendingCommand): void {
    this.#pending.push(pending)
  }

  /** Takes the next batch from the front. The limit of rows does not apply to a single command. */
  take(limits: { readonly commands: number; readonly rows: number }): readonly PendingCommand[] {
    let count = 0
    let rows = 0
    for (const { command, mustRunAlone } of this.#pending) {
      rows += command.reads.length
      if (count > 0 && (mustRunAlone || count >= limits.commands || rows > limits.rows)) break
      count += 1
      if (mustRunAlone) break
    }
    return this.#pending.splice(0, count)
  }

  takeAll(): readonly PendingCommand[] {
    return this.#pending.splice(0)
  }

  /** Puts commands back at the front; nothing of them has happened. */
  requeue(pending: readonly PendingCommand[]): void {
    this.#pending.unshift(...pending)
  }
}

/** Gives each caller the outcome of its command; `onBug` gets the errors of those that failed with a bug. */
export function settleAll(
  pending: readonly PendingCommand[],
  outcomes: readonly Outcome[],
  onBug: (error: unknown, command: Command) => void,
): void {
  pending.forEach(({ command, resolve, reject }, i) => {
    const outcome = outcomes[i]
    if (outcome !== undefined && 'reply' in outcome) {
      resolve(outcome)
    } else {
      const error = outcome?.bug
      onBug(error, command)
      reject(error instanceof Error ? error : new Error('the command failed', { cause: error }))
    }
  })
}

export function rejectAll(pending: readonly PendingCommand[], error: Error): void {
  for (const { reject } of pending) reject(error)
}

/** Callers that got an error mostly try again: until then, a stall is not taken to be over. */
const RETRY_ALLOWANCE_MS = 3_000

/** Measures how long commands have been waiting without any of them being committed or answered by the rules. */
export class StallWatch {
  readonly #now: () => number
  /** Since when nothing was settled although a command came; `undefined` when none waits. */
  #since: number | undefined
  /** When the last commands that had waited got an error, by `#now`; `undefined` while commands wait. */
  #failedAt: number | undefined

  /** `now` is in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /** In milliseconds; 0 when commands do not wait. */
  get stalledMs(): number {
    this.#expire()
    return this.#since === undefined ? 0 : this.#now() - this.#since
  }

  /** A command waits. */
  waiting(): void {
    if (this.#failedAt !== undefined) this.#expire()
    this.#since ??= this.#now()
    this.#failedAt = undefined
  }

  /** The database settled a batch, after which others may wait. */
  progressed(othersWait: boolean): void {
    this.#since = othersWait ? this.#now() : undefined
    this.#failedAt = undefined
  }

  /** A batch could not be committed, and no other command waits. */
  failed(): void {
    this.#failedAt = this.#now()
  }

  #expire(): void {
    if (this.#failedAt === undefined || this.#now() - this.#failedAt < RETRY_ALLOWANCE_MS) return
    this.#since = undefined
    this.#failedAt = undefined
  }
}
