import { account, conclude } from '../account.ts'
import type { Instance } from '../instance.ts'
import { Load } from '../load.ts'
import type { Scenario } from '../scenario.ts'
import type { Stage } from '../stage.ts'
import { watchSums } from '../sums.ts'
import { metricsOf } from '../watch.ts'
import { embeddedWorld } from '../world.ts'

const CLIENTS = 64
const SAMPLE_MS = 1_000
/** The part of the time after which memory is warm, and the part over which it is looked at. */
const WARM_UP = 0.3
const WINDOW = 0.1
/** Memory may grow by this much. Below so many samples nothing is said about it. */
const GROWTH = 1.2
const FEWEST_SAMPLES = 60

interface Sample {
  readonly heap: number
  readonly resident: number
}

export const endurance: Scenario = {
  name: 'endurance',
  about: '64 clients for a long time: sums hold in every read, memory stays flat',
  full: { rounds: 1, seconds: 600 },
  short: { rounds: 1, seconds: 3 },
  async play(stage, { seconds }) {
    const world = await embeddedWorld(stage)
    const sums = await watchSums(stage, world.databaseUrl())
    const load = new Load(stage, world, CLIENTS)
    const samples: Sample[] = []
    for (let second = 1; second <= seconds; second += 1) {
      await stage.pause(SAMPLE_MS)
      for (const instance of world.instances) samples.push(...(await sample(instance)))
      if (second % 60 === 0) stage.say(`${second} of ${seconds} s: ${world.answers.final.size} commands`)
    }
    const done = world.answers.final.size
    await load.stop()
    const failed = world.answers.count(500) + world.answers.count(429) + world.answers.cuts
    stage.expect(failed === 0, `${failed} requests failed`)
    stage.tell(`${(done / seconds).toFixed(0)} commands a second over ${seconds} s`)
    stage.tell(`${sums.reads} reads of all balances`)
    stayedFlat(stage, samples)
    await account(stage, world)
    await conclude(stage, world, CLIENTS)
  },
}

async function sample(instance: Instance): Promise<Sample[]> {
  const metrics = await metricsOf(instance)
  const heap = metrics?.get('nodejs_heap_size_used_bytes')
  const resident = metrics?.get('process_resident_memory_bytes')
  return heap === undefined || resident === undefined ? [] : [{ heap, resident }]
}

/** Medians, because the heap goes up and down with every collection. */
function stayedFlat(stage: Stage, samples: readonly Sample[]): void {
  if (samples.length < FEWEST_SAMPLES) return
  const window = Math.ceil(samples.length * WINDOW)
  const warm = Math.ceil(samples.length * WARM_UP)
  for (const name of ['heap', 'resident'] as const) {
    const before = median(samples.slice(warm, warm + window).map((sample) => sample[name]))
    const after = median(samples.slice(-window).map((sample) => sample[name]))
    const growth = `${name} ${megabytes(before)} MB warm, ${megabytes(after)} MB at the end`
    stage.tell(growth)
    stage.expect(after <= before * GROWTH, `memory grew: ${growth}`)
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(0)
