import { connect } from '../../../src/db/connect.ts'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
import { askUntilFinal } from '../books/retry-until-final.ts'
import type { World } from '../environment/environment.ts'
import { operator } from '../load/people.ts'
import { Listener } from './subscriber.ts'

/** Sockets of one user at most, with room for those that are on their way out. */
const OF_A_USER = 5
const FIRST_USER = 1_001
/** Within this everybody must have heard everything. */
const HEARD_MS = 15_000

/** People who listen to room R1, and come back whenever they are cut off. */
export class Audience {
  readonly listeners: readonly Listener[]
  readonly #stage: Stage
  readonly #world: World

  private constructor(stage: Stage, world: World, count: number) {
    this.#stage = stage
    this.#world = world
    this.listeners = Array.from({ length: count }, (_, i) => {
      const token = world.people.sign(FIRST_USER + Math.floor(i / OF_A_USER), -60, 7_200)
      return new Listener(world.instances, 'R1', token)
    })
    stage.teardown(async () => {
      for (const listener of this.listeners) listener.end()
    })
  }

  static async gather(stage: Stage, world: World, count: number): Promise<Audience> {
    const users = Array.from({ length: Math.ceil(count / OF_A_USER) }, (_, i) => FIRST_USER + i)
    const body = JSON.stringify({ users: users.map((id) => ({ id })) })
    const define = { kind: 'define', actor: operator, method: 'POST', path: '/admin/v1/users', body } as const
    await askUntilFinal(stage, world, [world.answers.begin(define)])
    await ask(world, `insert into room_members select 1, unnest(array[${users.join(', ')}]) on conflict do nothing`)
    const audience = new Audience(stage, world, count)
    await audience.arrived()
    return audience
  }

  /** Waits until all of them listen. */
  async arrived(withinMs = HEARD_MS): Promise<number> {
    const since = performance.now()
    while (!this.listeners.every(({ isThere }) => isThere) && performance.now() - since < this.#stage.limit(withinMs)) {
      await this.#stage.pause(10)
    }
    const away = this.listeners.filter(({ isThere }) => !isThere).length
    this.#stage.expect(away === 0, `${away} of ${this.listeners.length} listeners did not get in`)
    return performance.now() - since
  }

  /** Waits until everybody has heard everything, and tells who missed something, or heard it twice. */
  async compare(): Promise<void> {
    const rows = await ask(this.#world, `select max(last) as last from live_channels where channel = 'room:1'`)
    const last = Number(rows[0]?.['last'] ?? 0)
    const since = performance.now()
    const behind = () => this.listeners.filter(({ position }) => position < last)
    while (behind().length > 0 && performance.now() - since < this.#stage.limit(HEARD_MS)) await this.#stage.pause(10)
    this.#stage.expect(behind().length === 0, `${behind().length} listeners never heard of position ${last}`)
    for (const { faults } of this.listeners) for (const fault of faults.splice(0)) this.#stage.expect(false, fault)
    const frames = new Set(
      this.listeners.filter(({ began }) => began === this.listeners[0]?.began).map((l) => l.frames),
    )
    this.#stage.expect(frames.size <= 1, `listeners heard different numbers of frames: ${[...frames].join(', ')}`)
  }

  tell(): void {
    const sum = (of: (listener: Listener) => number): number => this.listeners.reduce((all, one) => all + of(one), 0)
    const codes = new Map<number, number>()
    for (const listener of this.listeners) {
      for (const [code, count] of listener.codes) codes.set(code, (codes.get(code) ?? 0) + count)
    }
    const told = [...codes].map(([code, count]) => `${count} x ${code}`).join(', ')
    this.#stage.tell(
      `${this.listeners.length} listeners heard ${sum(({ frames }) => frames)} frames and came back ${sum(({ returns }) => returns)} times (${told})`,
    )
  }
}

async function ask({ databaseUrl }: World, text: string): Promise<Record<string, unknown>[]> {
  const client = await connect(databaseUrl(), 'soak')
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}
