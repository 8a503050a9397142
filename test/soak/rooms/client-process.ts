import type { Static } from '@sinclair/typebox'
import { serve } from '../../harness/process/child-process-rpc.ts'
import { CountingClient } from '../../harness/websocket/counting-client.ts'
import { ClientJob, type Codes, type ConnectedCounts, type Summary } from './jobs.ts'

/** Sockets that are opened at a time. */
const MAX_CONNECTING = 50
const MAX_LATENCY_MS = 5_000
/** How long to wait for the last frame, and for the close frames of sockets that did not read. */
const TIMEOUT_MS = 15_000

const readers: CountingClient[] = []
const sleepers: CountingClient[] = []
/** Arrival times of each position at the sockets that read. */
const arrivalTimes = new Map<number, number[]>()

function onEvent(position: number): void {
  const at = performance.timeOrigin + performance.now()
  const before = arrivalTimes.get(position)
  if (before === undefined) arrivalTimes.set(position, [at])
  else before.push(at)
}

async function connect(
  job: Extract<Static<typeof ClientJob>, { do: 'connect' }>,
): Promise<Static<typeof ConnectedCounts>> {
  const { port, room, tokens, sleeperEvery } = job
  for (let i = 0; i < tokens.length; i += MAX_CONNECTING) {
    const clients = tokens.slice(i, i + MAX_CONNECTING).map((token, k) => {
      const isSleeper = sleeperEvery > 0 && (i + k) % sleeperEvery === 0
      const client = new CountingClient(port, token, room, isSleeper ? () => {} : onEvent)
      if (isSleeper) sleepers.push(client)
      else readers.push(client)
      return client
    })
    await Promise.all(clients.map(({ ready }) => ready))
  }
  for (const client of sleepers) client.sleep()
  return { readers: readers.length, sleepers: sleepers.length }
}

async function report(last: number, answered: readonly (readonly [number, number])[]): Promise<Static<typeof Summary>> {
  await until(() => readers.every(({ received }) => received.last >= last || received.code !== null))
  const latencies = Array.from({ length: MAX_LATENCY_MS + 1 }, () => 0)
  for (const [position, at] of answered) {
    for (const arrival of arrivalTimes.get(position) ?? []) {
      const ms = Math.min(MAX_LATENCY_MS, Math.max(0, Math.ceil(arrival - at)))
      latencies[ms] = (latencies[ms] ?? 0) + 1
    }
  }
  const views = new Set(
    readers.map(({ received: { frames, last: to, sum } }) => `${frames} frames up to ${to}, sum ${sum}`),
  )
  return {
    views: [...views],
    faults: readers.reduce((sum, { received }) => sum + received.faults, 0),
    closed: readers.filter(({ received }) => received.code !== null).length,
    latencies,
  }
}

async function resumeReading(): Promise<Static<typeof Codes>> {
  for (const client of sleepers) client.resumeReading()
  await until(() => sleepers.every(({ received, isOver }) => received.code !== null || isOver))
  return { codes: sleepers.map(({ received }) => received.code) }
}

function disconnect(): object {
  for (const client of [...readers.splice(0), ...sleepers.splice(0)]) client.end()
  arrivalTimes.clear()
  return {}
}

async function until(done: () => boolean): Promise<void> {
  const since = performance.now()
  while (!done() && performance.now() - since < TIMEOUT_MS) await new Promise((resolve) => setTimeout(resolve, 20))
}

serve(ClientJob, async (job) => {
  switch (job.do) {
    case 'connect':
      return connect(job)
    case 'report':
      return report(job.last, job.answered)
    case 'resumeReading':
      return resumeReading()
    case 'disconnect':
      return disconnect()
  }
})
