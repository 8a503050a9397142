import { setTimeout as sleep } from 'node:timers/promises'
import { type Static, Type } from '@sinclair/typebox'
import { LoadGenerator } from '../harness/load/load-generator.ts'
import { HelperProcess, serve } from '../harness/process/child-process-rpc.ts'
import type { ScenarioContext } from '../harness/scenario/scenario.ts'
import { WebSocketClient } from '../harness/websocket/websocket-client.ts'

// The load of a user or stranger who wants too much, in a process of its own: its cost must not look like latency of others.

const Job = Type.Union([
  /** Each connection sends the next request when the last one is answered, whatever the answer. */
  Type.Object({
    kind: Type.Literal('requests'),
    port: Type.Integer(),
    requests: Type.Array(Type.String(), { minItems: 1 }),
    connections: Type.Integer(),
    seconds: Type.Number(),
    /** The address that they come from. */
    from: Type.Optional(Type.String()),
  }),
  /** Sockets that subscribe to a channel with an old position and leave it, as often as frames are let through. */
  Type.Object({
    kind: Type.Literal('resumes'),
    port: Type.Integer(),
    token: Type.String(),
    channel: Type.String(),
    sockets: Type.Integer(),
    framesPerSecond: Type.Integer(),
    seconds: Type.Number(),
  }),
])
export type Job = Static<typeof Job>

/** Answers by status, and frames and close codes by kind. */
const Counts = Type.Record(Type.String(), Type.Integer())
export type Counts = Static<typeof Counts>

/** Starts the process; it runs one job at a time. */
export function startLoadProcess(context: ScenarioContext): (job: Job) => Promise<Counts> {
  const child = new HelperProcess(new URL(import.meta.url), {})
  context.teardown(() => child.stop())
  return (job) => child.call(job, Counts)
}

async function work(job: Job): Promise<Counts> {
  if (job.kind === 'resumes') {
    const counts: Counts = {}
    const until = performance.now() + job.seconds * 1000
    await Promise.all(Array.from({ length: job.sockets }, () => resume(job, until, counts)))
    return counts
  }
  const requests = job.requests.map((request) => Buffer.from(request, 'latin1'))
  let sent = 0
  const { statuses } = await LoadGenerator.run(
    {
      ports: [job.port],
      connections: job.connections,
      accepts: () => true,
      ...(job.from !== undefined && { localAddress: job.from }),
    },
    (generator) =>
      generator.closed(job.seconds, () => {
        sent += 1
        return requests[sent % requests.length] ?? Buffer.alloc(0)
      }),
  )
  return statuses
}

/** One socket after the other, each until the service closes it. */
async function resume(job: Extract<Job, { kind: 'resumes' }>, until: number, counts: Counts): Promise<void> {
  const count = (kind: string): void => {
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  while (performance.now() < until) {
    const closed = Promise.withResolvers<number>()
    const client = new WebSocketClient(`http://127.0.0.1:${job.port}`, {
      token: job.token,
      onText: (text) => count(/"t":"(\w+)"/.exec(text.slice(0, 60))?.[1] ?? 'frame'),
      onClose: closed.resolve,
    })
    let frames = 0
    const timer = setInterval(() => {
      frames += 1
      const frame = frames % 2 === 1 ? { t: 'sub', ch: job.channel, since: '1' } : { t: 'unsub', ch: job.channel }
      if (client.isOpen) client.send(frame)
      if (performance.now() > until) client.ws.close()
    }, 1_000 / job.framesPerSecond)
    count(`close ${await closed.promise}`)
    clearInterval(timer)
    // A refused client retries, but not at once.
    await sleep(100)
  }
}

// Only in the process itself.
if (process.send !== undefined && process.argv[1] === new URL(import.meta.url).pathname) serve(Job, work)
