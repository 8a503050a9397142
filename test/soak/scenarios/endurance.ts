import { watchBalanceSums } from '../../harness/scenario/balance-sums.ts'
import type { Scenario } from '../../harness/scenario/scenario.ts'
import { runFinalChecks } from '../books/reconcile.ts'
import { embeddedEnvironment } from '../environment/environment.ts'
import { grew, memoryOf, memoryParts, watchMemory } from '../environment/memory.ts'
import { killPostmaster } from '../environment/postgres.ts'
import { startClients } from '../load/clients.ts'

const CLIENTS = 64
/** In shorter runs the memory is not judged, as it is not warmed up. */
const MIN_MEMORY_SECONDS = 120

export const endurance: Scenario = {
  name: 'endurance',
  about: '64 clients for a long time: sums are 0 in every read, memory does not grow; then kill -9 of all',
  full: { rounds: 1, seconds: 600 },
  short: { rounds: 1, seconds: 3 },
  async run(context, { seconds }) {
    const environment = await embeddedEnvironment(context)
    const { answers, dataDir, instance } = environment
    const samples = watchMemory(context, instance)
    const sums = await watchBalanceSums(context, environment.databaseUrl())
    const clients = startClients(context, environment, CLIENTS)
    for (let second = 1; second <= seconds; second += 1) {
      await context.pause(1_000)
      if (second % 60 === 0) context.progress(`${second} of ${seconds} s: ${answers.final.size} commands`)
    }
    const done = answers.final.size
    const failed = answers.count(500) + answers.count(429) + answers.cuts
    context.expect(failed === 0, `${failed} requests failed`)
    context.report(`${(done / seconds).toFixed(0)} commands a second over ${seconds} s`)
    await sums.report()
    const memory = memoryOf(samples)
    for (const part of memoryParts) {
      const megabytes = [memory.warm, memory.end].map((use) => `${(use[part] / 1e6).toFixed(0)} MB`)
      context.report(`${part} memory ${megabytes.join(' warm, ')} after ${memory.seconds.toFixed(0)} s`)
      const isJudged = seconds >= MIN_MEMORY_SECONDS
      context.expect(!isJudged || !grew(memory, part), `${part} memory grew from ${megabytes.join(' to ')}`)
    }
    // Recovery from a crash under load, with all data of the run.
    killPostmaster(dataDir)
    await instance.kill()
    await instance.start()
    await clients.stop()
    await runFinalChecks(context, environment)
  },
}
