import { type Bench, progress, roundRobin } from '../bench.ts'
import { helperTurn, type Turn } from '../measure.ts'

export interface InProcessResults {
  readonly executor: Turn[]
  readonly limit: Turn[]
}

const names = ['executor', 'limit'] as const

/** Compares the product without HTTP with plain SQL that writes the same rows. */
export async function measureInProcess(bench: Bench): Promise<InProcessResults> {
  const { options, cluster } = bench
  const helpers = {
    executor: bench.helper('in-process/executor-helper.ts', await bench.seeded('executor')),
    limit: bench.helper('in-process/limit-helper.ts', await bench.seeded('sql_limit')),
  }
  for (const name of names) {
    progress(`warming up ${name}`)
    await helperTurn(helpers[name], cluster.postmaster, Math.min(2, options.seconds))
  }
  const turns: Record<(typeof names)[number], Turn[]> = { executor: [], limit: [] }
  await roundRobin(options.rounds, names, async (name, round) => {
    const turn = await helperTurn(helpers[name], cluster.postmaster, options.seconds)
    progress(`round ${round + 1}, in process, ${name}: ${Math.round(turn.perSecond)}/s`)
    turns[name].push(turn)
  })
  return turns
}
