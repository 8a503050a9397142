import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from '../../../../test/harness/load/clock.ts'
import { RawSocket } from '../room-sockets/raw-socket.ts'
import { RoomCursor } from '../room-sockets/room-cursor.ts'
import { listener, roomUid, tokenOf } from '../service/requests.ts'

/** How a client asks for its rooms: with one frame, or with one for each, all at once or as many as are allowed. */
export type Way = 'one frame' | 'a frame for each room, at once' | 'a frame for each room, 20 a second'

/** Client frames that the service takes in a second, and a bit more than that second. */
const FRAMES = 20
const PAUSE_MS = 1_050
const TIMEOUT_MS = 15_000

export interface Restored {
  /** From the start of the connection to `ready`, and until all rooms were whole; null when they never were. */
  readonly readyMs: number
  readonly wholeMs: number | null
  /** The close code; 0 when the connection lasted. */
  readonly code: number
}

/** A client of many rooms, whose connection is cut and restored. */
export class ManyRoomsClient {
  readonly cursors: readonly RoomCursor[]
  notResumed = 0
  readonly #byChannel: ReadonlyMap<string, RoomCursor>
  #socket: RawSocket | undefined

  /** Of the rooms from 1 to `rooms`. */
  constructor(rooms: number) {
    this.cursors = Array.from({ length: rooms }, (_, i) => new RoomCursor(roomUid(i + 1)))
    this.#byChannel = new Map(this.cursors.map((cursor) => [cursor.channel, cursor]))
  }

  cut(): void {
    this.#socket?.destroy()
    this.#socket = undefined
    for (const cursor of this.cursors) cursor.onDisconnected()
  }

  /** Connects, and resolves when each room is subscribed and has at least `last` of its events, or on failure. */
  async restore(port: number, way: Way, last: ReadonlyMap<string, number>): Promise<Restored> {
    const startedAt = clock()
    let code = 0
    let isOver = false
    const ready = Promise.withResolvers<number>()
    const socket = new RawSocket(
      { port, localAddress: '127.0.0.1' },
      tokenOf(listener(0)),
      (text) => {
        if (text.startsWith('{"t":"ready"')) ready.resolve(clock())
        else this.#onText(text)
      },
      (ending) => {
        code = ending.code
        isOver = true
        ready.resolve(clock())
      },
    )
    this.#socket = socket
    const readyMs = (await ready.promise) - startedAt
    const isWhole = ({ isSubscribed, received, uid }: RoomCursor): boolean =>
      isSubscribed && received.last >= (last.get(uid) ?? 0)
    const asked = this.#ask(socket, way)
    while (!isOver && !this.cursors.every(isWhole) && clock() - startedAt < TIMEOUT_MS) await sleep(1)
    const wholeMs = this.cursors.every(isWhole) ? clock() - startedAt : null
    await asked
    return { readyMs, wholeMs, code }
  }

  async #ask(socket: RawSocket, way: Way): Promise<void> {
    const requests = this.cursors.map(({ request }) => request)
    if (way === 'one frame') return socket.send({ t: 'sub', chs: requests })
    for (const [i, request] of requests.entries()) {
      if (way === 'a frame for each room, 20 a second' && i > 0 && i % FRAMES === 0) await sleep(PAUSE_MS)
      socket.send({ t: 'sub', ...request })
    }
  }

  #onText(text: string): void {
    if (text.startsWith('{"t":"hb"')) for (const cursor of this.cursors) cursor.onHeartbeat()
    const cursor = this.#byChannel.get(/"ch":"([^"]+)"/.exec(text)?.[1] ?? '')
    if (text.startsWith('{"t":"ev"')) cursor?.onEvent(text)
    if (!text.startsWith('{"t":"subbed"')) return
    if (text.includes('"resumed":false')) this.notResumed += 1
    cursor?.onSubscribed(text)
  }
}
