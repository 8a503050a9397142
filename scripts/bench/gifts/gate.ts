import { type Bench, progress, roundRobin } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { type Turn, turnOf } from '../measure.ts'

export type GateResults = Readonly<Record<'without' | 'with', Turn[]>>

const names = ['without', 'with'] as const

/**
 * HTTP alone, with and without the gate of app status, in its most expensive case: there is a minimum version, and
 * requests have no client headers, so each client is looked up by its token.
 */
export async function measureGate({ options, cluster, servers: start, generator }: Bench): Promise<GateResults> {
  const server = await start.floor()
  const { port } = server
  let current: (typeof names)[number] = 'without'
  /** Switches the gate in the running process, so that both turns measure the same process. */
  const switchTo = (wanted: typeof current): void => {
    if (wanted !== current) process.kill(server.pid, 'SIGUSR2')
    current = wanted
  }
  for (const name of names) {
    switchTo(name)
    await generator.call({ kind: 'warm', port, mix: 'uniform' }, Measured)
  }
  const turns: Record<(typeof names)[number], Turn[]> = { without: [], with: [] }
  await roundRobin(options.rounds, names, async (name, round) => {
    switchTo(name)
    const job = { kind: 'closed', mix: 'uniform', connections: 64, port, seconds: options.seconds } as const
    const turn = await turnOf(server, generator, cluster.postmaster, job)
    progress(`round ${round + 1}, ${name} the gate: ${Math.round(turn.perSecond)}/s, ${turn.cost.node.toFixed(1)} µs`)
    turns[name].push(turn)
  })
  return turns
}
