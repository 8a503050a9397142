import { replyHash } from '../../../src/ledger/storage/event-hash.ts'
import type { Kind, Wish } from '../load/operation.ts'
import type { Heard } from './contract.ts'

/** A command and the key that it is asked for with. */
export interface Asked {
  readonly key: string
  readonly wish: Wish
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
const MOST_RECENT = 50

/** Where the private part of an answer begins. */
const PRIVATE = ',"bank_details":'

const serialOf = (key: string): number => Number(key.slice(key.lastIndexOf('-') + 1))

/** What clients were told, command by command. */
export class Answers {
  /** By key. */
  readonly final = new Map<string, Final>()
  /** Commands of which nothing is known, and which nobody is asking for at the moment. */
  readonly open = new Map<string, Asked>()
  readonly statuses = new Map<number, number>()
  readonly wrong: string[] = []
  cuts = 0
  /** Requests that a client waited for no longer: the service may have them in its queue all the same. */
  givenUp = 0
  /** The most requests that clients waited for at a time. */
  mostWaiting = 0
  /** Commands asked for again that turned out to have been done. */
  replayed = 0
  longestMs = 0
  #waiting = 0
  #serial = 0
  #recent: (Asked & { readonly status: number; readonly text: string })[] = []

  begin(wish: Wish): Asked {
    this.#serial += 1
    return { key: `${wish.kind}-${this.#serial}`, wish }
  }

  /** How many commands there were so far. */
  get begun(): number {
    return this.#serial
  }

  /** How many of those that were begun after the first `begun` have their answer. */
  finalAfter(begun: number): number {
    return [...this.final.keys()].filter((key) => serialOf(key) > begun).length
  }

  /** One that is open, to be asked for again by whoever took it. */
  takeOpen(): Asked | undefined {
    for (const [key, asked] of this.open) {
      this.open.delete(key)
      return asked
    }
    return undefined
  }

  /** A request goes out; `note` follows. */
  sent(): void {
    this.#waiting += 1
    this.mostWaiting = Math.max(this.mostWaiting, this.#waiting)
  }

  note(asked: Asked, heard: Heard, ms: number): void {
    const { key, wish } = asked
    this.#waiting -= 1
    this.longestMs = Math.max(this.longestMs, ms)
    if (heard.is === 'cut') {
      this.cuts += 1
      if (heard.gaveUp) this.givenUp += 1
    } else {
      this.statuses.set(heard.status, (this.statuses.get(heard.status) ?? 0) + 1)
    }
    if (heard.is === 'wrong') this.#complain(`${key} was answered ${heard.status} ${heard.text}`)
    if (wish.method === 'GET') return
    if (heard.is === 'answer') this.#settle(asked, heard.status, heard.text, heard.replayed)
    else if (!this.final.has(key)) this.open.set(key, asked)
  }

  /** Takes the latest answers out, with their whole text. */
  takeRecent(): readonly (Asked & { readonly status: number; readonly text: string })[] {
    const recent = this.#recent
    this.#recent = []
    return recent
  }

  count(status: number): number {
    return this.statuses.get(status) ?? 0
  }

  #settle(asked: Asked, status: number, text: string, replayed: boolean): void {
    const { key, wish } = asked
    const open = text.split(PRIVATE, 1)[0] ?? ''
    const hash = replyHash(status, open)
    if (replayed) this.replayed += 1
    this.open.delete(key)
    const before = this.final.get(key)
    // A refusal carries the id of the request that was refused: a replay carries the first one's.
    if (before !== undefined && before.hash !== hash) this.#complain(`${key} was answered in two ways: ${text}`)
    if (before === undefined && status < 300) wish.learn?.(text)
    this.final.set(key, { kind: wish.kind, actor: wish.actor, status, hash, isPrivate: open !== text })
    this.#recent.push({ ...asked, status, text })
    if (this.#recent.length > MOST_RECENT) this.#recent.shift()
  }

  #complain(fault: string): void {
    if (this.wrong.length < 10) this.wrong.push(fault)
  }
}
