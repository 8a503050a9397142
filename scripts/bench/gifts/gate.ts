import { type Bench, progress, roundRobin } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { type Turn, turnOf } from '../measure.ts'

export type GateResults = Readonly<Record<'without' | 'with', Turn[]>>

const names = ['without', 'with'] as const

/**
 * HTTP alone without the gate of app state, and with it where it has most to do: there is a minimum version, and clients
 * show nothing, so that each is judged by what its token is known for.
 */
export async function measureGate({ options, cluster, servers: start, generator }: Bench): Promise<GateResults> {
  const server = await start.floor()
  const { port } = server
  let now: (typeof names)[number] = 'without'
  /** In one process, so that no two processes are compared. */
  const switchTo = (wanted: typeof now): void => {
    if (wanted !== now) process.kill(server.pid, 'SIGUSR2')
    now = wanted
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
