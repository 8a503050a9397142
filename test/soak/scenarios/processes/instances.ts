import { randomInt } from 'node:crypto'
import { watchBalanceSums } from '../../../harness/scenario/balance-sums.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { type Environment, sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'

const CLIENTS = 24
/** Within this time the other instances must complete a command, even on a busy machine. */
const TAKEOVER_MS = 2_000

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
      // The others run alone for a while.
      slowestMs = Math.max(slowestMs, await waitForCommand(context, environment))
      await context.pause(randomInt(200, 700))
      await instance.start()
      await load.stop()
      await reconcile(context, environment)
    }
    context.progress(`round ${round} of ${rounds}: position ${environment.books.position}`)
  }
  const failed = environment.answers.count(500) + environment.answers.count(429)
  context.expect(failed === 0, `${failed} commands failed, though an instance was running`)
  await sums.report()
  await runFinalChecks(context, environment)
  context.report(`the others completed a command after at most ${slowestMs.toFixed(0)} ms`)
}

/** Waits until a command is done; answers the time this took. */
async function waitForCommand(context: ScenarioContext, { answers }: Environment): Promise<number> {
  const since = performance.now()
  const before = answers.final.size
  while (answers.final.size === before && performance.now() - since < context.limit(TAKEOVER_MS)) await context.pause(5)
  context.expect(answers.final.size > before, 'the other instances completed no command')
  return performance.now() - since
}
