import type { Stage } from '../../harness/scenario/scenario-context.ts'
import type { World } from '../environment/environment.ts'
import type { Wish } from '../load/operation.ts'
import { oneOf } from '../load/random.ts'
import { ask } from '../load/send-attempt.ts'
import type { Asked } from './answers.ts'

/** How many ask at a time. */
const ASKING = 16
/** How long a command may stay without an answer once the trouble is over. */
const PATIENCE_MS = 20_000

/** Asks again, each with its own key, for everything of which nothing is known, until all is known. */
export async function settle(stage: Stage, world: World): Promise<void> {
  const open: Asked[] = []
  for (let one = world.answers.takeOpen(); one !== undefined; one = world.answers.takeOpen()) open.push(one)
  await askUntilFinal(stage, world, open)
  await askRecentAgain(stage, world)
}

/** Asks for each command until it has an answer that is kept. */
export async function askUntilFinal(stage: Stage, world: World, commands: readonly Asked[]): Promise<void> {
  const { answers } = world
  const deadline = performance.now() + stage.limit(PATIENCE_MS)
  await inTurn(commands, async (asked) => {
    while (!answers.final.has(asked.key)) {
      await ask(world, asked, oneOf(world.instances))
      if (answers.final.has(asked.key)) return
      if (performance.now() > deadline) {
        stage.expect(false, `${asked.key} stays without an answer`)
        return
      }
      await stage.pause(100)
    }
  })
}

/** Asks once for what has no key. */
export async function askEach(stage: Stage, world: World, wishes: readonly Wish[]): Promise<void> {
  await inTurn(wishes, async (wish) => {
    const { is } = await ask(world, world.answers.begin(wish), oneOf(world.instances))
    stage.expect(is === 'answer', `${wish.method} ${wish.path} was answered ${is}`)
  })
}

/** What was answered last is answered once more, to the letter. */
async function askRecentAgain(stage: Stage, world: World): Promise<void> {
  const deadline = performance.now() + stage.limit(PATIENCE_MS)
  await inTurn(world.answers.takeRecent(), async ({ key, wish, status, text }) => {
    let heard = await ask(world, { key, wish }, oneOf(world.instances))
    // What opens its private part may still run into a connection that broke in the trouble.
    while (heard.is === 'later' && performance.now() < deadline) {
      await stage.pause(100)
      heard = await ask(world, { key, wish }, oneOf(world.instances))
    }
    if (heard.is !== 'answer') stage.expect(false, `${key} was answered ${status} and then, asked again, ${heard.is}`)
    else stage.expect(heard.replayed && heard.text === text, `${key} was answered ${text} and then ${heard.text}`)
  })
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: ASKING }, worker))
}
