import type { Movement } from '../rules/account.ts'
import { fnv1a, OFFSET_BASIS } from '../rules/hash.ts'
import type { LedgerEntry } from '../storage/event-hash.ts'
import { codeOf, currencyLetters, holderLetters } from '../storage/packed-columns.ts'

/**
 * What events are found by: an account that they move, or a fact about them. A string of bytes, one character each, in
 * which terms compare as their bytes do; those of all accounts of one holder stand together.
 */
export type Term = string

/**
 * Ids of users and rooms are those in the data of events; `user` are users who neither send nor receive a gift there.
 * Request ids and idempotency keys are hashed: what is found by them may have others.
 */
export type TermKind = 'type' | 'actor' | 'user' | 'sender' | 'receiver' | 'room' | 'membership' | 'request' | 'key'

const FIRST_HOLDER = 0x10
/** Accounts that no rule allows, which only a ledger that was tampered with has. */
const NO_ACCOUNT = 0x7f
const KINDS: Readonly<Record<TermKind, number>> = {
  type: 0x80,
  actor: 0x81,
  user: 0x82,
  sender: 0x83,
  receiver: 0x84,
  room: 0x85,
  request: 0x86,
  key: 0x87,
  membership: 0x88,
}
/** Longer names are hashed. */
const MAX_NAME = 80
const HASHED = 0x60

const character = (code: number): string => String.fromCharCode(code)

/** The number of its bytes, then these, the highest first: in order of the numbers. */
function idBytes(id: number): string {
  let bytes = ''
  for (let rest = id; rest > 0; rest = Math.floor(rest / 256)) bytes = character(rest % 256) + bytes
  return character(bytes.length) + bytes
}

/** No id has as many bytes as this begins with. */
function nameBytes(name: string): string {
  const bytes = Buffer.byteLength(name) === name.length ? name : Buffer.from(name).toString('latin1')
  return bytes.length > MAX_NAME ? character(HASHED) + hashBytes(bytes) : character(bytes.length + 8) + bytes
}

/** 48 bits of two hashes. */
function hashBytes(text: string): string {
  let a = OFFSET_BASIS
  let b = ~OFFSET_BASIS
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    a = fnv1a(a, code & 0xff)
    b = fnv1a(b, code ^ (code >> 8) ^ (i & 0xff))
  }
  return String.fromCharCode(
    (a >>> 24) & 0xff,
    (a >>> 16) & 0xff,
    (a ^ (a >>> 8)) & 0xff,
    (b >>> 24) & 0xff,
    (b >>> 16) & 0xff,
    (b ^ (b >>> 8)) & 0xff,
  )
}

const isId = (id: unknown): id is number => typeof id === 'number' && Number.isSafeInteger(id) && id > 0

/** The term of an account, such as `user:7:diamonds`. */
export const accountTerm = (name: string): Term => termOfCode(codeOf(name))

/** The term of an account by its code, such as `u7d`. */
export function termOfCode(code: string): Term {
  const holder = holderLetters.indexOf(code.charAt(0))
  const currency = currencyLetters.indexOf(code.charAt(code.length - 1))
  if (holder === -1 || currency === -1 || code.length < 3) return character(NO_ACCOUNT) + nameBytes(code)
  const own = code.slice(1, -1)
  const id = Number(own)
  const holderBytes = isId(id) && String(id) === own ? idBytes(id) : nameBytes(own)
  return character(FIRST_HOLDER + holder) + holderBytes + character(currency)
}

/** Whether events have amounts under this term. */
export const isAccountTerm = (term: Term): boolean => term.charCodeAt(0) < KINDS.type

export function factTerm(kind: TermKind, value: string | number): Term {
  const head = character(KINDS[kind])
  if (kind === 'request' || kind === 'key') return head + hashBytes(String(value))
  return head + (typeof value === 'number' ? idBytes(value) : nameBytes(value))
}

/** How an id of a user or a room, or a list of them, is named in the data of events; other words may come before. */
const idField = /(?:^|_)(?:(sender)|(receiver)|(room)|user|creator|winner|loser|player|owner|target|beneficiary)_ids?$/

const fieldKinds = new Map<string, TermKind | null>()

function kindOfField(name: string): TermKind | null {
  let kind = fieldKinds.get(name)
  if (kind === undefined) {
    const [found, sender, receiver, room] = idField.exec(name) ?? []
    kind = found === undefined ? null : sender ? 'sender' : receiver ? 'receiver' : room ? 'room' : 'user'
    fieldKinds.set(name, kind)
  }
  return kind
}

function visitIds(value: object, visit: (kind: TermKind, id: number) => void): void {
  // `Object.entries` takes longer, which every event would cost.
  for (const name of Object.keys(value)) {
    const inner: unknown = Reflect.get(value, name)
    const isNested = typeof inner === 'object' && inner !== null
    if (!isNested && typeof inner !== 'number') continue
    const kind = Array.isArray(value) ? null : kindOfField(name)
    if (kind === null) {
      if (isNested) visitIds(inner, visit)
    } else if (isId(inner)) visit(kind, inner)
    else if (Array.isArray(inner)) for (const id of inner) if (isId(id)) visit(kind, id)
  }
}

/** What its terms follow from. */
export interface IndexedEvent {
  readonly type: string
  readonly data: object
  readonly movements: readonly Movement[]
  readonly entry: Pick<LedgerEntry, 'type' | 'version' | 'actor' | 'requestId' | 'idempotencyKey'>
}

/** What happens in a room, of which its members are told, is found apart from who belongs to it. */
const roomKindOf = (type: string): 'room' | 'membership' => (type.startsWith('room-') ? 'membership' : 'room')

/** Visits the terms of an event, some perhaps more than once; accounts with each amount that enters or, negative, leaves. */
export function visitTerms(event: IndexedEvent, visit: (term: Term, amount: number) => void): void {
  for (const { debit, credit, amount } of event.movements)
    visitMovement(accountTerm(debit), accountTerm(credit), amount, visit)
  visitFacts(event, visit)
}

/** Visits both accounts of a movement. */
export function visitMovement(
  debit: Term,
  credit: Term,
  amount: number,
  visit: (term: Term, amount: number) => void,
): void {
  // Only a ledger that was tampered with has others.
  if (!Number.isInteger(amount)) return
  visit(debit, -amount)
  visit(credit, amount)
}

/** As `visitTerms`, without accounts. */
export function visitFacts(
  { type, data, entry: { actor, requestId, idempotencyKey } }: Omit<IndexedEvent, 'movements'>,
  visit: (term: Term, amount: number) => void,
): void {
  visit(factTerm('type', type), 0)
  const user = /^user:([1-9][0-9]{0,15})$/.exec(actor)?.[1]
  if (user === undefined) visit(factTerm('actor', actor), 0)
  let hasActor = false
  visitIds(data, (kind, id) => {
    hasActor ||= kind !== 'room' && String(id) === user
    visit(factTerm(kind === 'room' ? roomKindOf(type) : kind, id), 0)
  })
  if (user !== undefined && !hasActor) visit(factTerm('user', Number(user)), 0)
  visit(factTerm('request', requestId), 0)
  if (idempotencyKey !== null) visit(factTerm('key', idempotencyKey), 0)
}
