import { fnv1a, OFFSET_BASIS } from '../rules/hash.ts'
import type { Command } from './command.ts'

/** Keys in one generation; at most two generations are kept. */
const MAX_GENERATION_KEYS = 50_000
/** After a key turned out not to be new, every key is looked up for so long. */
const DISABLED_MS = 5_000

/**
 * Idempotency keys used lately. Any other key is taken to be new, as nearly all are, and its reply is not looked up. If
 * it was used before after all, the batch fails as a whole, because no second reply can be stored under one key, and
 * is decided again. So that this does not happen batch after batch where many clients retry after a restart, the filter
 * is then disabled for some seconds and all keys are looked up.
 */
export class RecentKeyFilter {
  /** Fingerprints of keys; a new key with the fingerprint of another is looked up needlessly. */
  #young = new Set<number>()
  #old: ReadonlySet<number> = new Set()
  #disabledUntil = Number.NEGATIVE_INFINITY

  /** The commands whose key may have been used before; remembers the keys of all. `now` in milliseconds. */
  mayExist(commands: readonly Command[], now: number): readonly Command[] {
    const isDisabled = now < this.#disabledUntil
    return commands.filter((command) => {
      const wasUsed = this.#add(command)
      // Without a second reply that is stored, nothing would show that the key is not new.
      return wasUsed || isDisabled || command.cause.idempotency?.discardRefusal === true
    })
  }

  /** A key had been used that was taken to be new. */
  disable(now: number): void {
    this.#disabledUntil = now + DISABLED_MS
  }

  /** Whether the command's key was there before. */
  #add({ cause: { actor, idempotency } }: Command): boolean {
    if (idempotency === null) return false
    const fingerprint = extendFingerprint(extendFingerprint(OFFSET_BASIS, actor), idempotency.key)
    if (this.#young.has(fingerprint)) return true
    const isKnown = this.#old.has(fingerprint)
    if (this.#young.size >= MAX_GENERATION_KEYS) {
      this.#old = this.#young
      this.#young = new Set()
    }
    this.#young.add(fingerprint)
    return isKnown
  }
}

const LINE_BREAK = 10

/** A number and not the text: V8 would keep the strings that the text was joined from, some 550 bytes a key. */
function extendFingerprint(fingerprint: number, text: string): number {
  let next = fnv1a(fingerprint, LINE_BREAK)
  for (let i = 0; i < text.length; i += 1) next = fnv1a(next, text.charCodeAt(i))
  return next
}
