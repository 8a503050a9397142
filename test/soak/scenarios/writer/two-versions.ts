import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Scenario } from '../../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../../harness/scenario/scenario-context.ts'
import { reconcile, runFinalChecks } from '../../books/reconcile.ts'
import { makeFolder, sharedEnvironment } from '../../environment/environment.ts'
import { metricsOf } from '../../environment/metrics-watch.ts'
import { Load } from '../../load/load.ts'
import { untilWriter } from './writer.ts'

const CLIENTS = 24
const root = fileURLToPath(new URL('../../../..', import.meta.url))

export const twoVersions: Scenario = {
  name: 'two-versions',
  about:
    'instances of two versions side by side, as during a deployment: the newer ones write themselves, then for all',
  full: { rounds: 6, seconds: 4 },
  short: { rounds: 1, seconds: 1 },
  async run(context, { rounds, seconds }) {
    const DATA_DIR = makeFolder(context)
    const next = nextVersion(context)
    const environment = await sharedEnvironment(
      context,
      Array.from({ length: 4 }, () => ({ DATA_DIR })),
      async (url) => url,
      [undefined, undefined, next, next],
    )
    const [former, newer] = [environment.instances.slice(0, 2), environment.instances.slice(2)]
    for (let round = 1; round <= rounds; round += 1) {
      const load = new Load(context, environment, CLIENTS)
      await untilWriter(context, former)
      await context.pause(seconds * 1000)
      for (const instance of newer) {
        const forwarded = (await metricsOf(instance))?.get('ledger_forwarded_commands_total')
        context.expect(forwarded === 0, `an instance of another version forwarded ${forwarded} commands`)
      }
      for (const instance of former) await instance.stop()
      await untilWriter(context, newer)
      await context.pause(seconds * 1000)
      for (const instance of newer) await instance.stop()
      for (const instance of environment.instances) await instance.start()
      await load.stop()
      await reconcile(context, environment)
      context.progress(`round ${round} of ${rounds}: position ${environment.books.position}`)
    }
    const failed = environment.answers.count(500) + environment.answers.count(429)
    context.expect(failed === 0, `${failed} commands failed, though an instance was running`)
    await runFinalChecks(context, environment)
  },
}

/** A copy of this checkout whose instances speak another protocol. */
function nextVersion(context: ScenarioContext): string {
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
