import { type Static, Type } from '@sinclair/typebox'
import { LoadGenerator } from '../harness/load/load-generator.ts'
import { HelperProcess, serve } from '../harness/process/child-process-rpc.ts'
import type { ScenarioContext } from '../harness/scenario/scenario.ts'

// The load of a user or stranger who wants too much, in a process of its own: its cost must not look like latency of others.

/** Each connection sends the next of the requests when the last one is answered, whatever the answer. */
const Job = Type.Object({
  port: Type.Integer(),
  requests: Type.Array(Type.String(), { minItems: 1 }),
  connections: Type.Integer(),
  seconds: Type.Number(),
  /** The address that they come from. */
  localAddress: Type.Optional(Type.String()),
})

/** Answers by status. */
const Counts = Type.Record(Type.String(), Type.Integer())
export type Counts = Static<typeof Counts>

export interface Load extends Omit<Static<typeof Job>, 'requests'> {
  readonly requests: readonly Buffer[]
}

/** Starts the process; it runs one load at a time. */
export function startLoadProcess(context: ScenarioContext): (load: Load) => Promise<Counts> {
  const child = new HelperProcess(new URL(import.meta.url), {})
  context.teardown(() => child.stop())
  return ({ requests, ...rest }) =>
    child.call({ ...rest, requests: requests.map((request) => request.toString('latin1')) }, Counts)
}

async function run({ port, requests, connections, seconds, localAddress }: Static<typeof Job>): Promise<Counts> {
  const prepared = requests.map((request) => Buffer.from(request, 'latin1'))
  let sent = 0
  const next = (): Buffer => prepared[(sent += 1) % prepared.length] ?? Buffer.alloc(0)
  const from = localAddress === undefined ? {} : { localAddress }
  const target = { ports: [port], connections, accepts: () => true, ...from }
  const { statuses } = await LoadGenerator.run(target, (generator) => generator.closed(seconds, next))
  return statuses
}

if (import.meta.main) serve(Job, run)
