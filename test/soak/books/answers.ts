import { replyHash } from '../../../src/ledger/storage/event-hash.ts'
import type { Kind, Operation } from '../load/operation.ts'
import type { Result } from './contract.ts'

/** A command and the key that it is asked for with. */
export interface Attempt {
  readonly key: string
  readonly operation: Operation
}

/**
 * What a client was told of a command once and for all; `hash` is that of status and body. An answer with something
 * private is remembered with its record's name instead, in the same place: then the hash is that of what comes before.
 */
export interface Final {
  readonly isPrivate: boolean
  readonly kind: Kind
  readonly actor: string
  readonly status: number
  readonly hash: string
}

/** Answers of which the whole text is kept, to ask for them again. */
const MAX_RECENT = 50

/** Where the private part of an answer begins. */
const PRIVATE = ',"bank_details":'

const serialOf = (key: string): number => Number(key.slice(key.lastIndexOf('-') + 1))

/** What clients were told, command by command. */
export class Answers {
  /** By key. */
  readonly final = new Map<string, Final>()
  /** Commands of which nothing is known, and which nobody is asking for at the moment. */
  readonly open = new Map<string, Attempt>()
  readonly statuses = new Map<number, number>()
  readonly invalid: string[] = []
  cuts = 0
  /** Requests that a client waited for no longer: the service may have them in its queue all the same. */
  timedOut = 0
  /** The most requests that clients waited for at a time. */
  maxWaiting = 0
  /** Commands asked for again that turned out to have been done. */
  replayed = 0
  longestMs = 0
  #waiting = 0
  #serial = 0
  #recent: (Attempt & { readonly status: number; readonly text: string })[] = []

  begin(operation: Operation): Attempt {
    this.#serial += 1
    return { key: `${operation.kind}-${this.#serial}`, operation }
  }

  /** How many commands there were so far. */
  get started(): number {
    return this.#serial
  }

  /** How many of those that were begun after the first `begun` have their answer. */
  finalAfter(started: number): number {
    return [...this.final.keys()].filter((key) => serialOf(key) > started).length
  }

  /** One that is open, to be asked for again by whoever took it. */
  takeOpen(): Attempt | undefined {
    for (const [key, attempt] of this.open) {
      this.open.delete(key)
      return attempt
    }
    return undefined
  }

  /** A request goes out; `note` follows. */
  sent(): void {
    this.#waiting += 1
    this.maxWaiting = Math.max(this.maxWaiting, this.#waiting)
  }

  note(attempt: Attempt, result: Result, ms: number): void {
    const { key, operation } = attempt
    this.#waiting -= 1
    this.longestMs = Math.max(this.longestMs, ms)
    if (result.outcome === 'cut') {
      this.cuts += 1
      if (result.timedOut) this.timedOut += 1
    } else {
      this.statuses.set(result.status, (this.statuses.get(result.status) ?? 0) + 1)
    }
    if (result.outcome === 'invalid') this.#complain(`${key} was answered ${result.status} ${result.text}`)
    if (operation.method === 'GET') return
    if (result.outcome === 'final') this.#resolve(attempt, result.status, result.text, result.replayed)
    else if (!this.final.has(key)) this.open.set(key, attempt)
  }

  /** Takes the latest answers out, with their whole text. */
  takeRecent(): readonly (Attempt & { readonly status: number; readonly text: string })[] {
    const recent = this.#recent
    this.#recent = []
    return recent
  }

  count(status: number): number {
    return this.statuses.get(status) ?? 0
  }

  #resolve(attempt: Attempt, status: number, text: string, replayed: boolean): void {
    const { key, operation } = attempt
    const open = text.split(PRIVATE, 1)[0] ?? ''
    const hash = replyHash(status, open)
    if (replayed) this.replayed += 1
    this.open.delete(key)
    const before = this.final.get(key)
    // A refusal carries the id of the request that was refused: a replay carries the first one's.
    if (before !== undefined && before.hash !== hash) this.#complain(`${key} was answered in two ways: ${text}`)
    if (before === undefined && status < 300) operation.onDone?.(text)
    this.final.set(key, { kind: operation.kind, actor: operation.actor, status, hash, isPrivate: open !== text })
    this.#recent.push({ ...attempt, status, text })
    if (this.#recent.length > MAX_RECENT) this.#recent.shift()
  }

  #complain(fault: string): void {
    if (this.invalid.length < 10) this.invalid.push(fault)
  }
}
