import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
import type { World } from '../environment/environment.ts'
import { chance, oneOf } from './random.ts'
import { ask } from './send-attempt.ts'

/** In a hundred: commands that are asked for twice at once, and turns in which something open is asked for again. */
const TWINS = 3
const AGAIN = 25
/** A pause after what was not answered, as clients do: those who hammer on would starve what they wait for. */
const PAUSE_MS = 250
/** Who shares the machine does not take all of it: a client thinks for up to so long after each answer. */
const THINK_MS = 100

/** Clients that ask as fast as they are answered, or a little slower on a shared machine, until told to stop. */
export class Load {
  readonly #world: World
  readonly #again: number
  readonly #thinkMs: number
  readonly #running: readonly Promise<void>[]
  #stopped = false

  /** `again`: how often a client takes up something open instead, in a hundred turns. */
  constructor(stage: Stage, world: World, clients: number, again = AGAIN) {
    this.#world = world
    this.#again = again
    this.#thinkMs = stage.sharesMachine ? THINK_MS : 0
    this.#running = Array.from({ length: clients }, () => this.#client())
    stage.teardown(() => this.stop())
  }

  /** Waits until every client has heard what it was waiting for. */
  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  async #client(): Promise<void> {
    const { answers, instances, wishes } = this.#world
    while (!this.#stopped) {
      const open = chance(this.#again) ? answers.takeOpen() : undefined
      const asked = open ?? answers.begin(wishes())
      const copies = asked.wish.method !== 'GET' && chance(TWINS) ? 2 : 1
      const heard = await Promise.all(Array.from({ length: copies }, () => ask(this.#world, asked, oneOf(instances))))
      if (heard.some(({ is }) => is !== 'answer')) await sleep(PAUSE_MS)
      else if (this.#thinkMs > 0) await sleep(randomInt(this.#thinkMs))
    }
  }
}
