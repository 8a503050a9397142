import { eventTypes } from '../../../schema/events.ts'
import type { Evolve, PositionedEvent } from '../rules/event.ts'
import type { Micros } from '../rules/time.ts'
import { isRefusal, refuse } from '../rules/verb.ts'
import {
  estimateStoredBytes,
  type HashInput,
  type Head,
  hashEvent,
  type Reply,
  replyHash,
  replyKey,
  type StoredEvent,
  type StoredReply,
} from '../storage/event-hash.ts'
import type { Command } from './command.ts'
import { type RowCache, UndeclaredRead } from './row-cache.ts'

/** The outcome of a command: its reply, or the bug that it failed with, in which case it changed nothing. */
export type Outcome =
  | {
      readonly reply: Reply
      /** The command was done before, and this is its stored reply. */
      readonly isRepeat: boolean
      /** About how many bytes the command added to the database. */
      readonly storedBytes: number
      /** The ledger's last position that the reply takes into account, the command's own events included. */
      readonly position: number
    }
  | { readonly bug: unknown }

export interface Batch {
  /**
   * In the order of the commands. Shorter than these when a command needs a row that it could not name before the
   * ones ahead of it were decided: it and the rest belong in a batch of their own.
   */
  readonly outcomes: readonly Outcome[]
  readonly events: readonly StoredEvent[]
  readonly replies: readonly StoredReply[]
  readonly head: Head
}

/**
 * Decides commands in order on the rows that they declared, each on the effects of those before it. A refusal or a bug
 * concerns its own command only. Changes `rows` and `storedReplies` and nothing else.
 */
export function decideBatch(
  commands: readonly Command[],
  rows: RowCache,
  storedReplies: Map<string, StoredReply>,
  head: Head,
  now: Micros,
  evolve: Evolve,
): Batch {
  const at = Math.max(now, head.at)
  const outcomes: Outcome[] = []
  const storedEvents: StoredEvent[] = []
  const newReplies: StoredReply[] = []
  let { position, hash } = head

  for (const command of commands) {
    const { actor, requestId, idempotency } = command.cause
    const key = idempotency === null ? null : replyKey(actor, idempotency.key)
    const stored = key === null ? undefined : storedReplies.get(key)
    rows.checkpoint()
    try {
      if (stored !== undefined) {
        outcomes.push(
          idempotency?.requestHash === stored.requestHash
            ? { reply: { status: stored.status, body: stored.body }, isRepeat: true, storedBytes: 0, position }
            : {
                reply: command.refusalReply(refuse('idempotency_key_reused')),
                isRepeat: false,
                storedBytes: 0,
                position,
              },
        )
        continue
      }
      const context = { now: at, position: position + 1, actor }
      const decision = command.decide(rows, context)
      const events: PositionedEvent[] = []
      let reply: Reply
      if (isRefusal(decision)) {
        reply = command.refusalReply(decision)
      } else {
        for (const event of decision) {
          const positioned = { ...event, position: position + events.length + 1, at }
          evolve(rows, positioned)
          events.push(positioned)
        }
        command.sideWrites(rows, context)
        reply = command.reply(rows, events, context)
      }
      // A reply that is not stored leaves no key behind, so that the key can be used for what is asked next.
      const stores =
        idempotency !== null &&
        key !== null &&
        reply.isTransient !== true &&
        !(idempotency.discardRefusal === true && isRefusal(decision))
      const hashed = hashEvents(
        events,
        {
          actor,
          requestId,
          idempotencyKey: stores ? idempotency.key : null,
          replyHash: stores && events.length > 0 ? replyHash(reply.status, reply.body) : null,
        },
        hash,
      )
      // From here on nothing throws: the command has happened.
      for (const event of hashed) storedEvents.push(event)
      position += hashed.length
      hash = hashed.at(-1)?.entry.hash ?? hash
      let storedReply: StoredReply | undefined
      if (stores) {
        const { status, body } = reply
        storedReply = { status, body, key, requestHash: idempotency.requestHash }
        storedReplies.set(key, storedReply)
        newReplies.push(storedReply)
      }
      const storedBytes = estimateStoredBytes(hashed, rows.added(), storedReply)
      outcomes.push({ reply, isRepeat: false, storedBytes, position })
    } catch (bug) {
      rows.rollback()
      if (bug instanceof UndeclaredRead && outcomes.length > 0) break
      outcomes.push({ bug })
    }
  }
  return { outcomes, events: storedEvents, replies: newReplies, head: { position, hash, at } }
}

type Origin = Pick<HashInput, 'actor' | 'requestId' | 'idempotencyKey' | 'replyHash'>

function hashEvents(events: readonly PositionedEvent[], origin: Origin, previous: string): StoredEvent[] {
  let hash = previous
  return events.map((event) => {
    const { position, type, data, movements, at, actor } = event
    const version = eventTypes[type].version
    const fields = { position, type, version, data: JSON.stringify(data), movements, at }
    // The idempotency key and the reply are the caller's; another actor may have used the same key.
    const { requestId } = origin
    const input: HashInput =
      actor === undefined
        ? { ...fields, ...origin }
        : { ...fields, actor, requestId, idempotencyKey: null, replyHash: null }
    hash = hashEvent(input, hash)
    return { ...event, entry: { ...input, hash } }
  })
}
