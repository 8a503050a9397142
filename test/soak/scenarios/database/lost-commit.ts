import { randomInt } from 'node:crypto'
import { type Proxy, proxy } from '../../../harness/postgres/proxy.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { Stage } from '../../../harness/scenario/scenario-context.ts'
import { account, conclude } from '../../books/reconcile.ts'
import { sharedWorld } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 16
/** Cuts between two looks at the books. */
const BETWEEN = 10
/** Under load there is a COMMIT within this. */
const CUT_MS = 20_000

export const lostCommit: Scenario = {
  name: 'lost-commit',
  about: 'the connection to the database is cut between COMMIT and its answer',
  full: { rounds: 200, seconds: 0 },
  short: { rounds: 20, seconds: 0 },
  async play(stage, { rounds }) {
    let between: Proxy | undefined
    const world = await sharedWorld(stage, [{}], async (url) => {
      between = await proxy(stage, url)
      return between.url
    })
    if (between === undefined) throw new Error('there is no proxy')
    for (let round = 0; round < rounds; round += BETWEEN) {
      // Nobody asks again, so that what is done was done at once.
      const load = new Load(stage, world, CLIENTS, 0)
      for (let i = 0; i < BETWEEN; i += 1) await cut(stage, between, 'answer')
      await load.stop()
      await world.books.read(world.databaseUrl())
      for (const key of world.answers.open.keys()) {
        stage.expect(!world.books.has(key), `${key} was done, and its client was told that it cannot be done now`)
      }
      const refused = world.answers.count(500) + world.answers.cuts
      stage.expect(refused === 0, `${refused} commands failed, though each COMMIT had arrived`)
      await account(stage, world)
      stage.say(`${round + BETWEEN} of ${rounds} cut: position ${world.books.position}`)
    }
    // The other way round: COMMIT never arrives, and whoever waited is told to ask again.
    const load = new Load(stage, world, CLIENTS)
    for (let i = 0; i < BETWEEN; i += 1) await cut(stage, between, 'request')
    await load.stop()
    stage.expect(world.answers.count(500) > 0, 'nobody noticed that COMMIT did not arrive')
    await conclude(stage, world)
    stage.tell(`${between.cuts} connections cut`)
  },
}

async function cut(stage: Stage, between: Proxy, lost: 'request' | 'answer'): Promise<void> {
  await stage.pause(randomInt(5, 60))
  const before = between.cuts
  const deadline = performance.now() + stage.limit(CUT_MS)
  between.cutAtCommit(lost)
  while (between.cuts === before) {
    if (performance.now() > deadline) throw new Error('there was no COMMIT to cut')
    await stage.pause(2)
  }
}
