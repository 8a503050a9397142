import type { EventDetails } from '../../audit/reports/events/read-event.ts'
import { sha256 } from '../../ledger/rules/hash.ts'

export interface Verdict {
  readonly isValid: boolean
  readonly text: string
}

/** What the service finds when it hashes an event, and the one after it, again. `assets/hash.js` says the same. */
export function verdictOn({ entry, hashedText, next }: EventDetails): Verdict {
  const { position, hash } = entry
  if (sha256(hashedText) !== hash) {
    return { isValid: false, text: `Not valid: event ${position} is not what its hash was taken of.` }
  }
  if (next === null) {
    return { isValid: true, text: 'Valid: the hash is that of the bytes below. No event follows yet.' }
  }
  const after = next.entry.position
  return sha256(next.hashedText) === next.entry.hash
    ? { isValid: true, text: `Valid: the hash is that of the bytes below, and event ${after} was hashed with it.` }
    : {
        isValid: false,
        text: `Not valid: the hash is that of the bytes below, but event ${after} was not hashed with it.`,
      }
}
