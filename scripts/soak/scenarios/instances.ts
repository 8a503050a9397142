import { randomInt } from 'node:crypto'
import { account, conclude } from '../account.ts'
import { Load } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import type { Stage } from '../stage.ts'
import { watchSums } from '../sums.ts'
import { sharedWorld } from '../world.ts'

const CLIENTS = 24

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
  const sums = await watchSums(stage, world.databaseUrl())
  for (let round = 1; round <= rounds; round += 1) {
    for (const instance of world.instances) {
      const load = new Load(stage, world, CLIENTS)
      await stage.pause(randomInt(200, 700))
      await instance.kill()
      // The others go on alone for a while.
      const before = world.answers.final.size
      await stage.pause(randomInt(200, 700))
      stage.expect(world.answers.final.size > before, 'the other instances stood still')
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
}
