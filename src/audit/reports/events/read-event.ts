import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { canonicalText, GENESIS_HASH, type LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import type { TextRow } from '../../../ledger/storage/row-table.ts'
import { eventColumns, parseEntry } from '../../../ledger/storage/stored-event.ts'
import { parseData } from './parse-data.ts'

/** Events of one command that are listed on each side of the one that was asked for. */
const MAX_COMMAND_EVENTS = 25
/** As many as most commands have. */
const FEW_EVENTS = 4

/** An event with what its hash covers. */
export interface HashedEvent {
  readonly entry: LedgerEntry
  /** The hash of the event before it. */
  readonly previousHash: string
  /** Its UTF-8 bytes are what SHA-256 was taken of. */
  readonly hashedText: string
}

/** Something that has an id of its own, and which the event made or changed. */
export interface Subject {
  readonly kind: 'draw' | 'game' | 'card' | 'withdrawal' | 'transfer' | 'proposal'
  /** The position of the event that made it. */
  readonly id: number
  /** Whether this event made it. */
  readonly isNew: boolean
}

export interface EventDetails extends HashedEvent {
  /** The next event, whose text begins with the hash of this one; null at the end of the ledger. */
  readonly next: HashedEvent | null
  /** The events of its command, in order, itself included; at most 25 on each side. */
  readonly command: readonly LedgerEntry[]
  /** Whether its command has others beyond those. */
  readonly hasMoreOfCommand: boolean
  readonly subjects: readonly Subject[]
}

/** An event with all that proves and explains it; undefined beyond the end of the ledger. */
export async function readEvent(db: Kysely<Tables>, position: number): Promise<EventDetails | undefined> {
  let around = await readAround(db, position, FEW_EVENTS)
  const { first, last } = around.command
  if (first === 0 || last === around.entries.length - 1) {
    around = await readAround(db, position, MAX_COMMAND_EVENTS + 1)
  }
  const { entries, place, command } = around
  const entry = entries[place]
  if (entry === undefined) return undefined
  const shown = {
    first: Math.max(command.first, place - MAX_COMMAND_EVENTS),
    last: Math.min(command.last, place + MAX_COMMAND_EVENTS),
  }
  const next = entries[place + 1]
  return {
    ...hashed(entry, entries[place - 1]?.hash ?? GENESIS_HASH),
    next: next === undefined ? null : hashed(next, entry.hash),
    command: entries.slice(shown.first, shown.last + 1),
    hasMoreOfCommand: shown.first > command.first || shown.last < command.last,
    subjects: subjectsOf(entry),
  }
}

async function readAround(db: Kysely<Tables>, position: number, distance: number) {
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e
    where e.position between ${position - distance} and ${position + distance}
    order by e.position`.execute(db)
  const entries = rows.map(parseEntry)
  const place = entries.findIndex((entry) => entry.position === position)
  return { entries, place, command: commandOf(entries, place) }
}

const hashed = (entry: LedgerEntry, previousHash: string): HashedEvent => ({
  entry,
  previousHash,
  hashedText: canonicalText(entry, previousHash),
})

/** The places of the first and last event of the same command: they are next to each other. */
function commandOf(entries: readonly LedgerEntry[], place: number): { readonly first: number; readonly last: number } {
  const isSame = (a: LedgerEntry | undefined, b: LedgerEntry | undefined): boolean =>
    a !== undefined && b !== undefined && a.requestId === b.requestId && a.at === b.at && isOneCommand(a, b)
  let first = place
  while (isSame(entries[first - 1], entries[place])) first -= 1
  let last = place
  while (isSame(entries[last + 1], entries[place])) last += 1
  return { first, last }
}

/** What follows an approval has its maker as actor, and not the approver's key. */
const isOneCommand = (a: LedgerEntry, b: LedgerEntry): boolean =>
  a.actor === b.actor ? a.idempotencyKey === b.idempotencyKey : a.idempotencyKey === null || b.idempotencyKey === null

/** What events make, by type; its id is their position. */
const made: Readonly<Record<string, Subject['kind']>> = {
  'gift-drawn': 'draw',
  'roulette-created': 'game',
  'card-granted': 'card',
  'withdrawal-requested': 'withdrawal',
  'instant-transfer-made': 'transfer',
  'proposal-made': 'proposal',
}
/** By the field of an event's data that has the id. */
const named: Readonly<Record<string, Subject['kind']>> = {
  game_id: 'game',
  card_id: 'card',
  withdrawal_id: 'withdrawal',
  proposal_id: 'proposal',
}

function subjectsOf({ position, type, data }: LedgerEntry): readonly Subject[] {
  const subjects: Subject[] = []
  const own = made[type]
  if (own !== undefined) subjects.push({ kind: own, id: position, isNew: true })
  const fields = parseData(data)
  if (fields === null) return subjects
  const approval = 'approval' in fields && typeof fields.approval === 'object' ? fields.approval : null
  for (const [name, id] of Object.entries({ ...approval, ...fields })) {
    const kind = named[name]
    if (kind !== undefined && typeof id === 'number') subjects.push({ kind, id, isNew: false })
  }
  return subjects
}
