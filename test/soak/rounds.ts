import type { Scenario, ScenarioContext } from '../harness/scenario/scenario.ts'
import { reconcile, runFinalChecks } from './books/reconcile.ts'
import type { Environment } from './environment/environment.ts'
import { type Clients, startClients } from './load/clients.ts'

/** What a scenario does in one round. */
interface Round<E extends Environment> {
  readonly context: ScenarioContext
  readonly environment: E
  /** From 0. */
  readonly round: number
  readonly seconds: number
  /** Under way since a moment ago. They are stopped after the round, if the scenario does not do it. */
  readonly clients: Clients
}

interface Disturbance<E extends Environment> extends Omit<Scenario, 'run'> {
  readonly clients?: number
  /** Whether clients send commands without a final answer again while they run; default: yes. */
  readonly retries?: boolean
  readonly open: (context: ScenarioContext) => Promise<E>
  /** Disturbs the environment under load and waits until it has recovered; answers what happened. */
  readonly disturb: (round: Round<E>) => Promise<string>
  /** Called after all rounds. */
  readonly atEnd?: (context: ScenarioContext, environment: E) => Promise<void>
}

const CLIENTS = 16

/** A scenario that disturbs an environment under load, round after round, and compares the books after each. */
export const inRounds = <E extends Environment>({
  clients: count = CLIENTS,
  retries = true,
  open,
  disturb,
  atEnd = async () => {},
  ...scenario
}: Disturbance<E>): Scenario => ({
  ...scenario,
  async run(context, { rounds, seconds }) {
    const environment = await open(context)
    for (let round = 0; round < rounds; round += 1) {
      const clients = startClients(context, environment, count, retries)
      await context.pause(context.random.int(200, 900))
      const what = await disturb({ context, environment, round, seconds, clients })
      await clients.stop()
      await reconcile(context, environment)
      context.progress(`round ${round + 1} of ${rounds}: ${what}; position ${environment.books.position}`)
    }
    await atEnd(context, environment)
    await runFinalChecks(context, environment)
  },
})

/** One of these for each round, in turn. */
export function inTurn<T>(list: readonly T[], round: number): T {
  const one = list[round % list.length]
  if (one === undefined) throw new Error('nothing takes turns')
  return one
}

/** Waits until all instances are ready; answers the longest time since a fault. */
export async function allReady({ instances }: Environment, since: number, withinMs?: number): Promise<number> {
  let ms = 0
  for (const instance of instances) ms = Math.max(ms, await instance.ready(since, withinMs))
  return ms
}
