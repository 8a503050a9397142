import { LoadGenerator } from '../../harness/load/load-generator.ts'
import type { Scenario } from '../../harness/scenario/scenario.ts'
import { compareLoads, costliestRequests, createPopulation, enterRoom, PLENTY, type Population } from '../population.ts'
import { credits, operate, startPrepared } from '../target.ts'

/** As many connections as requests of one user are worked on at a time. */
const AT_ONCE = 4
/** Connections of a user who is far over the limit. */
const CROWD = 64
/** The first of the users who each use up a rate limit once, as it lasts for a minute. */
const FIRST_COSTLY_USER = 2_001
const LOADS = 9
/** Gifts of each of them, which their lists of draws show. */
const DRAWS = 10

/** Whether a user who takes everything that the limits allow, or sends far more, slows others down. */
export const costlyUsers: Scenario = {
  name: 'costly-users',
  about: 'gifts of 50 users while another one uses up the rate limit with costly requests, or sends far more',
  full: { rounds: 3, seconds: 4 },
  short: { rounds: 1, seconds: 1 },
  async run(context, extent) {
    const ids = Array.from({ length: extent.rounds * LOADS }, (_, i) => FIRST_COSTLY_USER + i)
    const { port, prepared: population } = await startPrepared(context, (port) => prepare(port, ids))
    const costly = (turn: number): Readonly<Record<string, Buffer>> =>
      costliestRequests(FIRST_COSTLY_USER + turn, population)
    const loads = {
      ...Object.fromEntries(
        Object.keys(costly(0)).map((name) => [
          name,
          (turn: number) => ({ connections: AT_ONCE, requests: [costly(turn)[name] ?? Buffer.alloc(0)] }),
        ]),
      ),
      'all of these': (turn: number) => ({ connections: 2 * AT_ONCE, requests: Object.values(costly(turn)) }),
      'many gifts to 100 at once': (turn: number) => ({
        connections: CROWD,
        requests: Object.values(costly(turn)).slice(0, 1),
      }),
      'far too many requests': (turn: number) => ({
        connections: CROWD,
        requests: Object.values(costly(turn)).slice(-1),
      }),
    }
    await compareLoads(context, population, { ...extent, port, maxGrowth: 2, noiseMs: 15, loads })
  },
}

/** Users who are known to the service, members of the room, and rich enough for gifts. */
async function prepare(port: number, ids: readonly number[]): Promise<Population> {
  const population = await createPopulation(port)
  await operate(port, [['POST', '/users', { users: ids.map((id) => ({ id })) }], ...credits(ids, PLENTY, ['diamonds'])])
  await enterRoom(port, ids)
  const gifts = ids.map((id) => Object.values(costliestRequests(id, population))[0] ?? Buffer.alloc(0))
  await LoadGenerator.run({ ports: [port], connections: AT_ONCE }, (generator) =>
    generator.send(DRAWS * ids.length, (i) => gifts[i % gifts.length] ?? Buffer.alloc(0)),
  )
  return population
}
