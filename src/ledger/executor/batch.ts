import { eventTypes } from '../../../schema/events.ts'
import type { PositionedEvent } from '../rules/event.ts'
import type { Evolve } from '../rules/evolve.ts'
import type { Micros } from '../rules/time.ts'
import { isRefusal, refuse } from '../rules/verb.ts'
import { estimateStoredBytes } from '../storage/bytes/stored-bytes.ts'
import { type HashInput, hashEvent, replyHash, type StoredEvent } from '../storage/event-hash.ts'
import type { Head, Reply, StoredReply } from '../storage/head.ts'
import type { Command } from './command.ts'
import { type RowCache, UndeclaredRead } from './row-cache.ts'

/** What became of a command: its reply, or the bug that it met (then nothing of it happened). */
export type Outcome =
  | {
      readonly reply: Reply
      readonly replayed: boolean
      /** About what the command added to the database. */
      readonly storedBytes: number
    }
  | { readonly bug: unknown }

export interface Batch {
  /**
   * In the order of the commands. Fewer than these when one of them needs a row that it could not know of when it
   * asked, because of what those before it did: it and the rest belong into a batch of their own.
   */
  readonly outcomes: readonly Outcome[]
  readonly events: readonly StoredEvent[]
  readonly replies: readonly StoredReply[]
  readonly head: Head
}

/** Neither of the two can hold a line break. */
export const replyKey = (actor: string, key: string): string => `${actor}\n${key}`

/**
 * Runs commands in order on the rows they asked for: each is decided on what the ones before it did. One
 * command's refusal or bug is its own. Changes `rows` and `remembered`; touches nothing else.
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
  const replies: StoredReply[] = []
  let { position, hash } = head

  for (const command of commands) {
    const { actor, requestId, idempotency } = command.cause
    const before = idempotency === null ? undefined : storedReplies.get(replyKey(actor, idempotency.key))
    rows.checkpoint()
    try {
      if (before !== undefined) {
        const same = [idempotency?.requestHash, idempotency?.formerRequestHash].includes(before.requestHash)
        outcomes.push(
          same
            ? { reply: { status: before.status, body: before.body }, replayed: true, storedBytes: 0 }
            : { reply: command.refusalReply(refuse('idempotency_key_reused')), replayed: false, storedBytes: 0 },
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
          const placed = { ...event, position: position + events.length + 1, at }
          evolve(rows, placed)
          events.push(placed)
        }
        command.sideWrites(rows, context)
        reply = command.reply(rows, events, context)
      }
      const remembers = idempotency !== null && events.length > 0
      const replied = remembers ? replyHash(reply.status, reply.body) : null
      const made = hashEvents(
        events,
        { actor, requestId, idempotencyKey: idempotency?.key ?? null, replyHash: replied },
        hash,
      )
      // From here on nothing throws: the command has happened.
      for (const event of made) storedEvents.push(event)
      position += made.length
      hash = made.at(-1)?.entry.hash ?? hash
      let kept: StoredReply | undefined
      if (idempotency !== null && !(idempotency.forgetRefusal === true && isRefusal(decision))) {
        kept = { ...reply, actor, key: idempotency.key, requestHash: idempotency.requestHash }
        storedReplies.set(replyKey(actor, idempotency.key), kept)
        replies.push(kept)
      }
      outcomes.push({ reply, replayed: false, storedBytes: estimateStoredBytes(made, rows.added(), kept) })
    } catch (bug) {
      rows.rollback()
      if (bug instanceof UndeclaredRead && outcomes.length > 0) break
      outcomes.push({ bug })
    }
  }
  return { outcomes, events: storedEvents, replies, head: { position, hash, at } }
}

type Origin = Pick<HashInput, 'actor' | 'requestId' | 'idempotencyKey' | 'replyHash'>

function hashEvents(events: readonly PositionedEvent[], origin: Origin, previous: string): StoredEvent[] {
  let hash = previous
  return events.map((event) => {
    const { position, type, data, movements, at } = event
    const version = eventTypes[type].version
    const unchained: HashInput = { position, type, version, data: JSON.stringify(data), movements, at, ...origin }
    hash = hashEvent(unchained, hash)
    return { ...event, entry: { ...unchained, hash } }
  })
}
