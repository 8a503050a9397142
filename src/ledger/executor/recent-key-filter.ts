import { fnv1a, OFFSET_BASIS } from '../storage/bytes/fnv.ts'
import type { Command } from './command.ts'

/** Keys that are known of are twice as many at most. */
const MAX_GENERATION_KEYS = 50_000
/** So long nothing is taken on trust after a key had been used before that was not known of. */
const DISABLED_MS = 5_000

/**
 * Idempotency keys that were seen lately. Any other is taken to be new, as nearly all are, and its reply is not looked
 * up: when it was used after all, what its command did cannot be written beside the reply that is remembered, and
 * nothing of the batch happens. So that this does not happen again and again, as it would where many come back after a
 * restart, all are looked up for some seconds then.
 */
export class RecentKeyFilter {
  /** Marks of keys; a new key that has the mark of another is looked up for nothing. */
  #young = new Set<number>()
  #old: ReadonlySet<number> = new Set()
  #disabledUntil = Number.NEGATIVE_INFINITY

  /** Of these commands those whose key may have been used, which from now on is known of each. `now` in milliseconds. */
  mayExist(commands: readonly Command[], now: number): readonly Command[] {
    const doubted = now < this.#disabledUntil
    return commands.filter((command) => this.#add(command) || doubted)
  }

  /** A key had been used that was taken to be new. */
  disable(now: number): void {
    this.#disabledUntil = now + DISABLED_MS
  }

  /** Whether the command's key was known of. */
  #add({ cause: { actor, idempotency } }: Command): boolean {
    if (idempotency === null) return false
    const mark = extendFingerprint(extendFingerprint(OFFSET_BASIS, actor), idempotency.key)
    if (this.#young.has(mark)) return true
    const known = this.#old.has(mark)
    if (this.#young.size >= MAX_GENERATION_KEYS) {
      this.#old = this.#young
      this.#young = new Set()
    }
    this.#young.add(mark)
    return known
  }
}

const LINE_BREAK = 10

/** Goes on with a line of text. A hash, as the text itself would keep all of which it was put together: 550 bytes a key. */
function extendFingerprint(mark: number, text: string): number {
  let next = fnv1a(mark, LINE_BREAK)
  for (let i = 0; i < text.length; i += 1) next = fnv1a(next, text.charCodeAt(i))
  return next
}
