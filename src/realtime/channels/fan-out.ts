import type { Language } from '../../../schema/languages.ts'
import { encodeFrames } from '../sockets/socket-writer.ts'
import { TimeSlice } from '../time-slice.ts'
import { type FrameBody, frameTexts } from './channel-message.ts'

/** Receives a channel's frames. */
export interface Listener {
  /** The language of the sentences in the frames. */
  readonly language: Language
  /** Sends whole frames. */
  push(frames: Buffer): void
}

/** A listener's place in a channel. */
export interface FanOutMember {
  readonly listener: Listener
  /** The name under which it subscribed: a room's uid may have changed since. */
  name: string
  /** The number of the first body that it has not got. */
  next: number
}

/** One delivery to all members, in slices. */
interface Round {
  /** Bodies before this number are sent. */
  readonly end: number
  readonly members: Iterator<FanOutMember, undefined>
  /** Encoded frames, by the first body, the language and the name. */
  readonly encoded: Map<string, Buffer>
}

/**
 * Sends the bodies of a channel's frames to its listeners in rounds, which can stop after any listener. Each listener
 * gets every body that is appended after it was added, once and in order.
 */
export class FanOut {
  readonly #members = new Set<FanOutMember>()
  /** Bodies that not all members have got. */
  #bodies: FrameBody[] = []
  /** The number of the first of them, counted from the channel's first body. */
  #first = 0
  /** No body from this number on differs by language. */
  #localizedEnd = 0
  #round: Round | undefined

  /** The number of listeners. */
  get size(): number {
    return this.#members.size
  }

  /** Whether some listener lacks frames. */
  get isPending(): boolean {
    return this.#bodies.length > 0
  }

  /** The number of the next body. */
  get #end(): number {
    return this.#first + this.#bodies.length
  }

  append(bodies: readonly FrameBody[]): void {
    if (this.#members.size === 0) {
      this.#first += bodies.length
      return
    }
    this.#bodies.push(...bodies)
    if (bodies.some((body) => typeof body !== 'string')) this.#localizedEnd = this.#end
  }

  add(name: string, listener: Listener): FanOutMember {
    const member = { listener, name, next: this.#end }
    this.#members.add(member)
    return member
  }

  /** Sends nothing more to it; see `catchUp`. */
  delete(member: FanOutMember): void {
    this.#members.delete(member)
    if (this.#members.size > 0) return
    this.#first = this.#end
    this.#bodies = []
    this.#round = undefined
  }

  /** Sends a member all that it lacks, ahead of the others. Returns the number of frames. */
  catchUp(member: FanOutMember): number {
    return this.#send(member, this.#end, new Map())
  }

  /**
   * Continues the round, or begins one, until it ends or until `deadline` by `performance.now()`; one listener is
   * served in any case. Returns the number of frames, and whether the round has ended.
   */
  sendUntil(deadline: number): { readonly sent: number; readonly hasEnded: boolean } {
    const round = (this.#round ??= { end: this.#end, members: this.#members.values(), encoded: new Map() })
    let sent = 0
    for (;;) {
      const { value: member } = round.members.next()
      if (member === undefined) break
      sent += this.#send(member, round.end, round.encoded)
      if (performance.now() >= deadline) return { sent, hasEnded: false }
    }
    this.#bodies.splice(0, round.end - this.#first)
    this.#first = round.end
    this.#round = undefined
    return { sent, hasEnded: true }
  }

  #send(member: FanOutMember, end: number, encoded: Map<string, Buffer>): number {
    const { listener, name, next } = member
    if (next >= end) return 0
    // Most frames have no sentences: those are encoded once for all.
    const language = next < this.#localizedEnd ? listener.language : ''
    const key = `${next} ${language} ${name}`
    let frames = encoded.get(key)
    if (frames === undefined) {
      const bodies = this.#bodies.slice(next - this.#first, end - this.#first)
      frames = encodeFrames(frameTexts(name, bodies, listener.language))
      encoded.set(key, frames)
    }
    member.next = end
    listener.push(frames)
    return end - next
  }
}

/** How long frames are sent in one turn of the event loop; requests wait for it. */
const SLICE_MS = 2
/** The longest pause of a channel between two rounds. */
const MAX_PAUSE_MS = 20

/**
 * Sends the pending frames of channels: at once when a channel's last round is long past, otherwise after a pause as
 * long as that round took. A lone event does not wait; under load, a channel's events go out together. Channels take
 * turns, so that small ones wait for a slice of a big one and not for all of it.
 */
export class FlushScheduler {
  readonly #onSent: (frames: number) => void
  readonly #onFlushed: (seconds: number) => void
  readonly #timeSlice = new TimeSlice(SLICE_MS)
  /** Channels that are being sent, or pause. */
  readonly #busy = new Set<FanOut>()

  /** `onSent` counts frames, once for each listener; `onFlushed` gets how long a round took with its waits. */
  constructor(onSent: (frames: number) => void, onFlushed: (seconds: number) => void) {
    this.#onSent = onSent
    this.#onFlushed = onFlushed
  }

  /** Takes channels that have pending frames. */
  schedule(fanOuts: Iterable<FanOut>): void {
    for (const fanOut of fanOuts) if (!this.#busy.has(fanOut)) this.#begin(fanOut)
  }

  #begin(fanOut: FanOut): void {
    this.#busy.add(fanOut)
    this.#send(fanOut, performance.now())
  }

  #send(fanOut: FanOut, startedAt: number): void {
    this.#timeSlice.run(() => {
      const { sent, hasEnded } = fanOut.sendUntil(this.#timeSlice.deadline)
      this.#onSent(sent)
      if (hasEnded) this.#end(fanOut, performance.now() - startedAt)
      else this.#send(fanOut, startedAt)
    })
  }

  #end(fanOut: FanOut, tookMs: number): void {
    this.#onFlushed(tookMs / 1_000)
    if (tookMs >= 1) setTimeout(() => this.#continue(fanOut), Math.min(MAX_PAUSE_MS, tookMs))
    else this.#continue(fanOut)
  }

  #continue(fanOut: FanOut): void {
    this.#busy.delete(fanOut)
    if (fanOut.isPending) this.#begin(fanOut)
  }
}
