import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ScenarioContext } from '../../harness/scenario/scenario.ts'
import { type Instance, metricsOf } from '../../harness/scenario/service-instance.ts'
import { makeFolder, type SharedEnvironment, sharedEnvironment } from '../environment/environment.ts'
import { inRounds, inTurn } from '../rounds.ts'

/** Clients of an instance that hangs try another one. */
const ANSWER_TIMEOUT_MS = 2_000
/** A writer that dies, hangs or is cut off must be replaced within this time. */
const REPLACE_MS = 2_000
const ELECTION_TIMEOUT_MS = 60_000
/** A slow writer runs for the first time and is suspended for the second, again and again. */
const RUNS_MS = 100
const SUSPENDED_MS = 400
const SLOW_PERIODS = 8
/** How long instances of two versions run side by side. */
const DEPLOYMENT_MS = 1_000

type Fault = (context: ScenarioContext, environment: SharedEnvironment, writer: Instance) => Promise<void>

/** `isAlwaysAnswered`: the instances that are left answer every command. */
const faults: readonly (readonly [name: string, isAlwaysAnswered: boolean, inject: Fault])[] = [
  [
    'the writer killed, and the one that replaced it',
    true,
    async (context, { instances }, writer) => {
      await writer.kill()
      const next = await untilReplaced(context, instances, [writer])
      await next.kill()
      await untilReplaced(context, instances, [writer, next])
      await writer.start()
      await next.start()
    },
  ],
  [
    'the writer suspended, and resumed when another one had replaced it',
    false,
    async (context, { instances }, writer) => {
      const resume = writer.freeze()
      await untilReplaced(context, instances, [writer])
      resume()
      await writer.ready(performance.now())
    },
  ],
  [
    'the writer cut off from the database, but not from the others',
    false,
    async (context, { instances, proxies }, writer) => {
      proxies.get(writer)?.silence()
      await untilReplaced(context, instances, [writer])
      proxies.get(writer)?.resume()
      await writer.ready(performance.now(), 15_000)
    },
  ],
  [
    'the writer with a fifth of the time, in slices',
    false,
    async (context, _environment, writer) => {
      for (let i = 0; i < SLOW_PERIODS; i += 1) {
        const resume = writer.freeze()
        await context.pause(SUSPENDED_MS)
        resume()
        await context.pause(RUNS_MS)
      }
    },
  ],
  ['instances of the next version deployed, which write themselves and then for all', true, deploy],
]

export const writers = inRounds({
  name: 'writers',
  about:
    'of three instances, the one that writes for all is killed, suspended, cut off, slow, or replaced by a new version',
  full: { rounds: 10 * faults.length, seconds: 0 },
  short: { rounds: faults.length, seconds: 0 },
  clients: 24,
  async open(context) {
    const environment = await sharedEnvironment(context, [{}, {}, {}])
    return { ...environment, timeoutMs: context.limit(ANSWER_TIMEOUT_MS) }
  },
  async disturb({ context, environment, round, clients }) {
    const [name, isAlwaysAnswered, inject] = inTurn(faults, round)
    const { answers, instances } = environment
    const failures = (): number => answers.count(500) + answers.count(429)
    const writer = await untilWriter(context, instances)
    const before = failures()
    await inject(context, environment, writer)
    await context.pause(300)
    await clients.stop()
    const failed = failures() - before
    context.expect(!isAlwaysAnswered || failed === 0, `${name}: ${failed} commands failed while another instance ran`)
    return name
  },
  async atEnd(context, { instances }) {
    const metrics = await Promise.all(instances.map(metricsOf))
    const forwarded = metrics.reduce((sum, one) => sum + (one?.get('ledger_forwarded_commands_total') ?? 0), 0)
    context.expect(forwarded > 0, 'no command was forwarded')
    context.report(`${forwarded} commands forwarded by the last processes`)
  },
})

/** Waits until one of these instances is the writer and all others among them send it their commands. */
async function untilWriter(context: ScenarioContext, instances: readonly Instance[]): Promise<Instance> {
  let writer: Instance | undefined
  await context.waitFor(async () => {
    for (const instance of instances) {
      const metrics = await metricsOf(instance)
      const isServing = metrics?.get('ledger_forwarding_instances') === instances.length - 1
      if (metrics?.get('ledger_is_writer') === 1 && isServing) writer = instance
    }
    return writer !== undefined
  }, ELECTION_TIMEOUT_MS)
  if (writer === undefined) throw new Error('there is no writer')
  return writer
}

/** Waits until one of the instances that are left writes for them all. */
async function untilReplaced(
  context: ScenarioContext,
  instances: readonly Instance[],
  gone: readonly Instance[],
): Promise<Instance> {
  const since = performance.now()
  const left = instances.filter((instance) => !gone.includes(instance))
  const writer = await untilWriter(context, left)
  const ms = performance.now() - since
  context.expect(ms <= context.limit(REPLACE_MS), `the writer was replaced only after ${ms.toFixed(0)} ms`)
  return writer
}

async function deploy(context: ScenarioContext, environment: SharedEnvironment): Promise<void> {
  const former = [...environment.instances]
  const folder = nextVersion(context)
  const newer = [await environment.addInstance(folder), await environment.addInstance(folder)]
  await untilWriter(context, former)
  await context.pause(DEPLOYMENT_MS)
  for (const instance of newer) {
    const forwarded = (await metricsOf(instance))?.get('ledger_forwarded_commands_total')
    context.expect(forwarded === 0, `an instance of another version forwarded ${forwarded} commands`)
  }
  for (const instance of former) await instance.stop()
  await untilWriter(context, newer)
  await context.pause(DEPLOYMENT_MS)
  for (const instance of former) await instance.start()
  environment.instances.splice(former.length)
  for (const instance of newer) await instance.stop()
}

/** A copy of this checkout whose instances speak another protocol. */
function nextVersion(context: ScenarioContext): string {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const folder = makeFolder(context)
  for (const name of ['src', 'schema', 'sql', 'package.json']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const messages = join(folder, 'src/forwarding/messages.ts')
  const text = readFileSync(messages, 'utf8')
  const changed = text.replace(/PROTOCOL = (\d+)/, (_, version) => `PROTOCOL = ${Number(version) + 1}`)
  if (changed === text) throw new Error('the protocol has no version')
  writeFileSync(messages, changed)
  return folder
}
