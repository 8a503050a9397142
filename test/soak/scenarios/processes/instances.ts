import { randomInt } from 'node:crypto'
import { watchSums } from '../../../harness/scenario/balance-sums.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { Stage } from '../../../harness/scenario/scenario-context.ts'
import { account, conclude } from '../../books/reconcile.ts'
import { sharedWorld, type World } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 24
/** Within this those that are left do something again, on a machine that has other things to do, too. */
const GO_ON_MS = 2_000

const instances = (name: string, count: number): Scenario => ({
  name,
  about: `${count} instances on one database, each killed in turn`,
  full: { rounds: 12, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  play: (stage, { rounds }) => inTurn(stage, count, rounds),
})

export const twoInstances = instances('two-instances', 2)
export const threeInstances = instances('three-instances', 3)

async function inTurn(stage: Stage, count: number, rounds: number): Promise<void> {
  const world = await sharedWorld(
    stage,
    Array.from({ length: count }, () => ({})),
  )
  let slowestMs = 0
  const sums = await watchSums(stage, world.databaseUrl())
  for (let round = 1; round <= rounds; round += 1) {
    for (const instance of world.instances) {
      const load = new Load(stage, world, CLIENTS)
      await stage.pause(randomInt(200, 700))
      await instance.kill()
      // The others go on alone for a while.
      slowestMs = Math.max(slowestMs, await somethingIsDone(stage, world))
      await stage.pause(randomInt(200, 700))
      await instance.start()
      await load.stop()
      await account(stage, world)
    }
    stage.say(`round ${round} of ${rounds}: position ${world.books.position}`)
  }
  const failed = world.answers.count(500) + world.answers.count(429)
  stage.expect(failed === 0, `${failed} commands were not taken, though an instance was there`)
  await sums.tell()
  await conclude(stage, world)
  stage.tell(`the others did something again after ${slowestMs.toFixed(0)} ms at the latest`)
}

/** Answers how long it took. */
async function somethingIsDone(stage: Stage, { answers }: World): Promise<number> {
  const since = performance.now()
  const before = answers.final.size
  while (answers.final.size === before && performance.now() - since < stage.limit(GO_ON_MS)) await stage.pause(5)
  stage.expect(answers.final.size > before, 'the other instances stood still')
  return performance.now() - since
}
