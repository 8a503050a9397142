import { setTimeout as sleep } from 'node:timers/promises'
import type { People } from '../load/people.ts'

/** At most; the sender is not one of them. */
const MAX_RECEIVERS = 40

/** Sends lucky gifts in a room at a constant rate, and records when each was answered. */
export class Sender {
  readonly #origin: string
  readonly #people: People
  /** By position: milliseconds since 1970. */
  readonly answered: [number, number][] = []
  failed = 0

  constructor(origin: string, people: People) {
    this.#origin = origin
    this.#people = people
  }

  /** Sends without waiting for answers before the next gift. */
  async send(perSecond: number, seconds: number): Promise<void> {
    const began = performance.now()
    const sending: Promise<void>[] = []
    for (let i = 0; i < perSecond * seconds; i += 1) {
      await sleep(Math.max(0, began + (i * 1_000) / perSecond - performance.now()))
      sending.push(this.#one(i))
    }
    await Promise.all(sending)
  }

  async #one(i: number): Promise<void> {
    const { users } = this.#people
    const user = users[i % users.length] ?? 0
    const others = users.filter((id) => id !== user).slice(0, MAX_RECEIVERS)
    const response = await fetch(`${this.#origin}/api/v1/instant-send`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#people.tokenOf(`user:${user}`)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ u_id: user, decoration_id: GIFT, user_id: others, quantity: 1, room_id: 'R1' }),
    })
    const text = await response.text()
    const at = performance.timeOrigin + performance.now()
    const position = Number(/"order_id":"(\d+)/.exec(text)?.[1])
    if (response.status === 200 && position > 0) this.answered.push([position, at])
    else this.failed += 1
  }
}

/** The lucky gift of this scenario, of which one order in fifty wins. */
export const GIFT = 900
export const gift = {
  name: 'Fireworks',
  kind: 'lucky',
  price: 5_000,
  image_path: 'gifts/fireworks.webp',
  odds: [
    { multiplier: 0, weight: 49 },
    { multiplier: 1, weight: 1 },
  ],
}
