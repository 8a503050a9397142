import { watchBalanceSums } from '../../harness/scenario/balance-sums.ts'
import type { Scenario } from '../../harness/scenario/scenario.ts'
import type { ScenarioContext } from '../../harness/scenario/scenario-context.ts'
import { bytes } from '../attacks/bytes.ts'
import { closed } from '../attacks/closed.ts'
import { fuzz } from '../attacks/fuzz.ts'
import { guessedDraws } from '../attacks/guessed-draws.ts'
import { keys } from '../attacks/keys.ts'
import { matrix } from '../attacks/matrix.ts'
import { paths } from '../attacks/paths.ts'
import { pipelined } from '../attacks/pipelined.ts'
import { slow } from '../attacks/slow.ts'
import { tokens } from '../attacks/tokens.ts'
import { mutateFields } from '../mutations/mutate.ts'
import type { AttackRun } from './attack-run.ts'
import { listen } from './frame-checks.ts'
import { watchMemory } from './memory.ts'
import { PeriodicReads } from './periodic-reads.ts'
import { runPostChecks } from './post-checks.ts'
import { startTarget } from './target.ts'

/** Of what can be listed, when not all of it is done. */
const PART = 0.15
/** Of all requests, those that bend a field or read it back. */
const MUTATION_SHARE = 0.25

export interface Strength {
  /** In all. */
  readonly requests: number
  /** On one connection. */
  readonly pipelined: number
  /** All that can be listed, and those are waited for whom the service gives half a minute and more; else a part. */
  readonly thorough: boolean
  readonly seed: number
}

/** Every kind of hostile request against one real process, and the books afterwards. */
export const attackScenario = (strength: Strength): Scenario => ({
  name: 'siege',
  about: `${strength.requests} hostile requests, seed ${strength.seed}`,
  full: { rounds: 1, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  run: (context) => attack(context, strength),
})

async function attack(context: ScenarioContext, strength: Strength): Promise<void> {
  const target = await startTarget(context, strength.seed, strength.thorough ? 1 : PART)
  const { attackRun, instance, dataDir, databaseUrl } = target
  const sums = await watchBalanceSums(context, databaseUrl)
  const memory = watchMemory(context, instance)
  const periodic = new PeriodicReads(attackRun, dataDir)
  await listen(attackRun)
  const slowOnes = slow(attackRun, strength.thorough)
  const attacks: Readonly<Record<string, (attackRun: AttackRun) => Promise<void>>> = {
    // First: they need the catalogue and the room that others make something else of.
    'guessed draws': guessedDraws,
    mutations: (attackRun) => mutateFields(attackRun, strength.requests * MUTATION_SHARE, periodic),
    tokens,
    paths,
    matrix,
    keys,
    bytes,
    'ten thousand in a row': (attackRun) => pipelined(attackRun, strength.pipelined),
    fuzz: (attackRun) =>
      fuzz(attackRun, Math.max(attackRun.routes.length, strength.requests - attackRun.asked), periodic),
  }
  for (const [name, run] of Object.entries(attacks)) {
    const before = attackRun.asked
    await run(attackRun)
    context.progress(`${name}: ${attackRun.asked - before} requests`)
  }
  await slowOnes
  await periodic.end()
  // Alone: nobody else gets in meanwhile.
  const before = attackRun.asked
  await closed(attackRun)
  context.progress(`closed: ${attackRun.asked - before} requests`)
  await runPostChecks(target, periodic)
  const counts = [...attackRun.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  context.report(`${attackRun.asked} requests (${counts.join(', ')})`)
  await sums.report()
  memory.judge()
}
