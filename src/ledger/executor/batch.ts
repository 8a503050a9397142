import { eventTypes } from '../../../schema/events.ts'
import type { Evolve } from '../rules/evolve.ts'
import { type Rows, Unasked } from '../rules/state.ts'
import type { Micros } from '../rules/time.ts'
import { isRefusal, type PlacedEvent, refuse } from '../rules/verb.ts'
import { storedBytes } from '../storage/bytes/stored-bytes.ts'
import { chained, type Entry, type RecordedEvent, replyHash } from '../storage/event-hash.ts'
import type { Head, RememberedReply, Reply } from '../storage/head.ts'
import type { Command } from './command.ts'

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
  readonly events: readonly RecordedEvent[]
  readonly replies: readonly RememberedReply[]
  readonly head: Head
}

/** Neither of the two can hold a line break. */
export const rememberedAs = (actor: string, key: string): string => `${actor}\n${key}`

/**
 * Runs commands in order on the rows they asked for: each is decided on what the ones before it did. One
 * command's refusal or bug is its own. Changes `rows` and `remembered`; touches nothing else.
 */
export function runBatch(
  commands: readonly Command[],
  rows: Rows,
  remembered: Map<string, RememberedReply>,
  head: Head,
  now: Micros,
  evolve: Evolve,
): Batch {
  const at = Math.max(now, head.at)
  const outcomes: Outcome[] = []
  const recorded: RecordedEvent[] = []
  const replies: RememberedReply[] = []
  let { position, hash } = head

  for (const command of commands) {
    const { actor, requestId, idempotency } = command.cause
    const before = idempotency === null ? undefined : remembered.get(rememberedAs(actor, idempotency.key))
    rows.checkpoint()
    try {
      if (before !== undefined) {
        const same = [idempotency?.requestHash, idempotency?.formerHash].includes(before.requestHash)
        outcomes.push(
          same
            ? { reply: { status: before.status, body: before.body }, replayed: true, storedBytes: 0 }
            : { reply: command.refused(refuse('idempotency_key_reused')), replayed: false, storedBytes: 0 },
        )
        continue
      }
      const context = { now: at, position: position + 1, actor }
      const decision = command.decide(rows, context)
      const events: PlacedEvent[] = []
      let reply: Reply
      if (isRefusal(decision)) {
        reply = command.refused(decision)
      } else {
        for (const event of decision) {
          const placed = { ...event, position: position + events.length + 1, at }
          evolve(rows, placed)
          events.push(placed)
        }
        command.note(rows, context)
        reply = command.reply(rows, events, context)
      }
      const remembers = idempotency !== null && events.length > 0
      const replied = remembers ? replyHash(reply.status, reply.body) : null
      const made = chain(
        events,
        { actor, requestId, idempotencyKey: idempotency?.key ?? null, replyHash: replied },
        hash,
      )
      // From here on nothing throws: the command has happened.
      for (const event of made) recorded.push(event)
      position += made.length
      hash = made.at(-1)?.entry.hash ?? hash
      let kept: RememberedReply | undefined
      if (idempotency !== null && !(idempotency.forgetRefusal === true && isRefusal(decision))) {
        kept = { ...reply, actor, key: idempotency.key, requestHash: idempotency.requestHash }
        remembered.set(rememberedAs(actor, idempotency.key), kept)
        replies.push(kept)
      }
      outcomes.push({ reply, replayed: false, storedBytes: storedBytes(made, rows.added(), kept) })
    } catch (bug) {
      rows.rollback()
      if (bug instanceof Unasked && outcomes.length > 0) break
      outcomes.push({ bug })
    }
  }
  return { outcomes, events: recorded, replies, head: { position, hash, at } }
}

type Origin = Pick<Entry, 'actor' | 'requestId' | 'idempotencyKey' | 'replyHash'>

function chain(events: readonly PlacedEvent[], origin: Origin, previous: string): RecordedEvent[] {
  let hash = previous
  return events.map((event) => {
    const { position, type, data, movements, at } = event
    const version = eventTypes[type].version
    const unchained: Entry = { position, type, version, data: JSON.stringify(data), movements, at, ...origin }
    hash = chained(unchained, hash)
    return { ...event, entry: { ...unchained, hash } }
  })
}
