import { replyHash } from '../../../src/ledger/storage/event-hash.ts'
import type { Kind, Operation } from '../load/operations.ts'
import type { Result } from './contract.ts'

/** A command with its idempotency key. */
export interface Attempt {
  readonly key: string
  readonly operation: Operation
}

/**
 * The final answer to a command; `hash` is that of status and body. Of an answer with private data the service stores
 * the id of a vault record in its place: then the hash is that of the text before it.
 */
export interface Final {
  readonly isPrivate: boolean
  readonly kind: Kind
  readonly actor: string
  readonly status: number
  readonly hash: string
}

/** Answers whose text is kept, to compare it with a replay. */
const MAX_RECENT = 50

/** The start of the private part of an answer. */
const PRIVATE_PART = ',"bank_details":'

const serialOf = (key: string): number => Number(key.slice(key.lastIndexOf('-') + 1))

/** The answers that clients received, by command. */
export class Answers {
  /** By key. */
  readonly final = new Map<string, Final>()
  /** Commands without a final answer that no client is sending at the moment. */
  readonly open = new Map<string, Attempt>()
  readonly statuses = new Map<number, number>()
  readonly invalid: string[] = []
  cuts = 0
  /** Requests that a client gave up; the service may still have them in its queue. */
  timedOut = 0
  /** Commands that were sent again and had been done before. */
  replayed = 0
  longestMs = 0
  #serial: number
  #recent: (Attempt & { readonly status: number; readonly text: string })[] = []

  /** Keys are counted from this number on. */
  constructor(started = 0) {
    this.#serial = started
  }

  begin(operation: Operation): Attempt {
    this.#serial += 1
    return { key: `${operation.kind}-${this.#serial}`, operation }
  }

  /** Commands so far. */
  get started(): number {
    return this.#serial
  }

  /** How many commands after the first `started` have a final answer. */
  finalAfter(started: number): number {
    return [...this.final.keys()].filter((key) => serialOf(key) > started).length
  }

  /** Removes and returns a command without a final answer; the caller sends it again. */
  takeOpen(): Attempt | undefined {
    for (const [key, attempt] of this.open) {
      this.open.delete(key)
      return attempt
    }
    return undefined
  }

  /** The result of a request that was sent, after so many milliseconds. */
  note(attempt: Attempt, result: Result, ms: number): void {
    const { key, operation } = attempt
    this.longestMs = Math.max(this.longestMs, ms)
    if (result.outcome === 'cut') {
      this.cuts += 1
      if (result.timedOut) this.timedOut += 1
    } else {
      this.statuses.set(result.status, (this.statuses.get(result.status) ?? 0) + 1)
    }
    if (result.outcome === 'invalid') this.#addFault(`${key} was answered ${result.status} ${result.text}`)
    if (operation.method === 'GET') return
    if (result.outcome === 'final') this.#resolve(attempt, result.status, result.text, result.replayed)
    else if (!this.final.has(key)) this.open.set(key, attempt)
  }

  /** Removes and returns the latest answers with their texts. */
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
    const publicPart = text.split(PRIVATE_PART, 1)[0] ?? ''
    const hash = replyHash(status, publicPart)
    if (replayed) this.replayed += 1
    this.open.delete(key)
    const before = this.final.get(key)
    // Also for a refusal, which contains a request id: a replay has that of the first request.
    if (before !== undefined && before.hash !== hash) this.#addFault(`${key} got two different answers: ${text}`)
    if (before === undefined && status < 300) operation.onDone?.(text)
    this.final.set(key, { kind: operation.kind, actor: operation.actor, status, hash, isPrivate: publicPart !== text })
    this.#recent.push({ ...attempt, status, text })
    if (this.#recent.length > MAX_RECENT) this.#recent.shift()
  }

  #addFault(fault: string): void {
    if (this.invalid.length < 10) this.invalid.push(fault)
  }
}
