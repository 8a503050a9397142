import { randomInt } from 'node:crypto'
import { watchBalanceSums } from '../../../harness/scenario/balance-sums.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { type Environment, sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 24
/** Within this those that are left do something again, on a machine that has other things to do, too. */
const GO_ON_MS = 2_000

const instances = (name: string, count: number): Scenario => ({
  name,
  about: `${count} instances on one database, each killed in turn`,
  full: { rounds: 12, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  run: (context, { rounds }) => killInTurn(context, count, rounds),
})

export const twoInstances = instances('two-instances', 2)
export const threeInstances = instances('three-instances', 3)

async function killInTurn(context: ScenarioContext, count: number, rounds: number): Promise<void> {
  const environment = await sharedEnvironment(
    context,
    Array.from({ length: count }, () => ({})),
  )
  let slowestMs = 0
  const sums = await watchBalanceSums(context, environment.databaseUrl())
  for (let round = 1; round <= rounds; round += 1) {
    for (const instance of environment.instances) {
      const load = new Load(context, environment, CLIENTS)
      await context.pause(randomInt(200, 700))
      await instance.kill()
      // The others go on alone for a while.
      slowestMs = Math.max(slowestMs, await somethingIsDone(context, environment))
      await context.pause(randomInt(200, 700))
      await instance.start()
      await load.stop()
      await reconcile(context, environment)
    }
    context.progress(`round ${round} of ${rounds}: position ${environment.books.position}`)
  }
  const failed = environment.answers.count(500) + environment.answers.count(429)
  context.expect(failed === 0, `${failed} commands were not taken, though an instance was there`)
  await sums.report()
  await runFinalChecks(context, environment)
  context.report(`the others did something again after ${slowestMs.toFixed(0)} ms at the latest`)
}

/** Answers how long it took. */
async function somethingIsDone(context: ScenarioContext, { answers }: Environment): Promise<number> {
  const since = performance.now()
  const before = answers.final.size
  while (answers.final.size === before && performance.now() - since < context.limit(GO_ON_MS)) await context.pause(5)
  context.expect(answers.final.size > before, 'the other instances stood still')
  return performance.now() - since
}
