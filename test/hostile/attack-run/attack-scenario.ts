import { watchSums } from '../../harness/scenario/balance-sums.ts'
import type { Scenario } from '../../harness/scenario/scenario.ts'
import type { Stage } from '../../harness/scenario/scenario-context.ts'
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
import { bend } from '../mutations/mutate.ts'
import type { Siege } from './attack-run.ts'
import { listen } from './frame-checks.ts'
import { watchMemory } from './memory.ts'
import { PeriodicReads } from './periodic-reads.ts'
import { aftermath } from './post-checks.ts'
import { besiege } from './target.ts'

/** Of what can be listed, when not all of it is done. */
const PART = 0.15
/** Of all requests, those that bend a field or read it back. */
const BENT = 0.25

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
export const siege = (strength: Strength): Scenario => ({
  name: 'siege',
  about: `${strength.requests} hostile requests, seed ${strength.seed}`,
  full: { rounds: 1, seconds: 0 },
  short: { rounds: 1, seconds: 0 },
  play: (stage) => attack(stage, strength),
})

async function attack(stage: Stage, strength: Strength): Promise<void> {
  const besieged = await besiege(stage, strength.seed, strength.thorough ? 1 : PART)
  const { siege, instance, dataDir, databaseUrl } = besieged
  const sums = await watchSums(stage, databaseUrl)
  const memory = watchMemory(stage, instance)
  const periodic = new PeriodicReads(siege, dataDir)
  await listen(siege)
  const slowOnes = slow(siege, strength.thorough)
  const attacks: Readonly<Record<string, (siege: Siege) => Promise<void>>> = {
    // First: they need the catalogue and the room that others make something else of.
    'guessed draws': guessedDraws,
    bend: (siege) => bend(siege, strength.requests * BENT, periodic),
    tokens,
    paths,
    matrix,
    keys,
    bytes,
    'ten thousand in a row': (siege) => pipelined(siege, strength.pipelined),
    fuzz: (siege) => fuzz(siege, Math.max(siege.doors.length, strength.requests - siege.asked), periodic),
  }
  for (const [name, run] of Object.entries(attacks)) {
    const before = siege.asked
    await run(siege)
    stage.say(`${name}: ${siege.asked - before} requests`)
  }
  await slowOnes
  await periodic.end()
  // Alone: nobody else gets in meanwhile.
  const before = siege.asked
  await closed(siege)
  stage.say(`closed: ${siege.asked - before} requests`)
  await aftermath(besieged, periodic)
  const counts = [...siege.statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  stage.tell(`${siege.asked} requests (${counts.join(', ')})`)
  await sums.tell()
  memory.judge()
}
