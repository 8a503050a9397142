import { randomInt } from 'node:crypto'
import { type Proxy, proxy } from '../../../harness/postgres/proxy.ts'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import type { Instance } from '../../../harness/scenario/service-instance.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { makeFolder, sharedEnvironment } from '../../environment/environment.ts'
import { Load } from '../../load/load.ts'
import { forwardedCounts, untilReplaced, untilWriter } from './writer.ts'

const CLIENTS = 24
const INSTANCES = 3
/** Clients of an instance that hangs try another one. */
const ANSWER_TIMEOUT_MS = 2_000
/** A slow writer runs for the first time and is suspended for the second, again and again. */
const RUNS_MS = 100
const SUSPENDED_MS = 400
const SLOW_PERIODS = 8

interface Fault {
  readonly name: string
  readonly about: string
  readonly full: number
  /** Faults in a row, each on the writer of the moment, before any is repaired. */
  readonly inARow: number
  /** Whether another instance becomes the writer. */
  readonly isReplaced: boolean
  /** Whether the instances that are left answer every command. */
  readonly isAlwaysAnswered: boolean
  /** Injects the fault; answers what repairs it. `database` is what lies between it and PostgreSQL. */
  readonly inject: (context: ScenarioContext, writer: Instance, database: Proxy) => Promise<() => Promise<unknown>>
}

const killed = async (_context: ScenarioContext, writer: Instance): Promise<() => Promise<unknown>> => {
  await writer.kill()
  return () => writer.start()
}

export const writerKilled = scenarioOf({
  name: 'writer-killed',
  about: 'of three instances, the one that writes for all is killed under load',
  full: 20,
  inARow: 1,
  isReplaced: true,
  isAlwaysAnswered: true,
  inject: killed,
})

export const elections = scenarioOf({
  name: 'elections',
  about: 'the writer of three instances is killed, and so is the one that replaces it',
  full: 10,
  inARow: INSTANCES - 1,
  isReplaced: true,
  isAlwaysAnswered: true,
  inject: killed,
})

export const writerFrozen = scenarioOf({
  name: 'writer-frozen',
  about: 'the writer is suspended (SIGSTOP) under load, and resumed once another has replaced it',
  full: 10,
  inARow: 1,
  isReplaced: true,
  isAlwaysAnswered: false,
  inject: async (_context, writer) => {
    const resume = writer.freeze()
    return async () => {
      resume()
      await writer.ready(performance.now())
    }
  },
})

export const writerCutOff = scenarioOf({
  name: 'writer-cut-off',
  about: 'the writer reaches the other instances, but the database no longer',
  full: 10,
  inARow: 1,
  isReplaced: true,
  isAlwaysAnswered: false,
  inject: async (_context, writer, database) => {
    database.silence()
    return async () => {
      database.resume()
      await writer.ready(performance.now(), 15_000)
    }
  },
})

export const writerSlow = scenarioOf({
  name: 'writer-slow',
  about: 'the writer gets a fifth of the time, in slices, under load',
  full: 10,
  inARow: 1,
  isReplaced: false,
  isAlwaysAnswered: false,
  inject: async (context, writer) => {
    for (let i = 0; i < SLOW_PERIODS; i += 1) {
      const resume = writer.freeze()
      await context.pause(SUSPENDED_MS)
      resume()
      await context.pause(RUNS_MS)
    }
    return async () => {}
  },
})

function scenarioOf(fault: Fault): Scenario {
  const { name, about, full } = fault
  return {
    name,
    about,
    full: { rounds: full, seconds: 0 },
    short: { rounds: 1, seconds: 0 },
    run: (context, { rounds }) => run(context, fault, rounds),
  }
}

async function run(context: ScenarioContext, fault: Fault, rounds: number): Promise<void> {
  const DATA_DIR = makeFolder(context)
  const proxies: Proxy[] = []
  const shared = await sharedEnvironment(
    context,
    Array.from({ length: INSTANCES }, () => ({ DATA_DIR })),
    async (url) => {
      const between = await proxy(context, url)
      proxies.push(between)
      return between.url
    },
  )
  const environment = { ...shared, timeoutMs: context.limit(ANSWER_TIMEOUT_MS) }
  let slowestMs = 0
  for (let round = 1; round <= rounds; round += 1) {
    const load = new Load(context, environment, CLIENTS)
    await untilWriter(context, environment.instances)
    await context.pause(randomInt(200, 700))
    const gone: Instance[] = []
    const repairs: (() => Promise<unknown>)[] = []
    for (let i = 0; i < fault.inARow; i += 1) {
      const writer = await untilWriter(
        context,
        environment.instances.filter((instance) => !gone.includes(instance)),
      )
      const database = proxies[environment.instances.indexOf(writer)]
      if (database === undefined) throw new Error('the instance has no proxy')
      const since = performance.now()
      repairs.push(await fault.inject(context, writer, database))
      gone.push(writer)
      if (fault.isReplaced) slowestMs = Math.max(slowestMs, await untilReplaced(context, environment, gone, since))
      await context.pause(randomInt(100, 400))
    }
    for (const repair of repairs) await repair()
    await context.pause(300)
    await load.stop()
    await reconcile(context, environment)
    context.progress(`round ${round} of ${rounds}: position ${environment.books.position}`)
  }
  const failed = environment.answers.count(500) + environment.answers.count(429)
  if (fault.isAlwaysAnswered) context.expect(failed === 0, `${failed} commands failed, though an instance was running`)
  const { forwarded, lost } = await forwardedCounts(environment)
  context.expect(forwarded > 0, 'no command was forwarded')
  await runFinalChecks(context, environment)
  if (fault.isReplaced) context.report(`replaced after at most ${slowestMs.toFixed(0)} ms`)
  context.report(`${forwarded} commands forwarded by the last processes, ${lost} answers lost and settled`)
}
