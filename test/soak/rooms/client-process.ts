import type { Static } from '@sinclair/typebox'
import { serve } from '../../harness/process/child-process-rpc.ts'
import { CountingClient } from '../../harness/websocket/counting-client.ts'
import { ClientJob, type Codes, type Gathered, type Summary } from './jobs.ts'

/** Sockets that are opened at a time. */
const CONNECTING_AT_ONCE = 50
const MAX_LATENCY_MS = 5_000
/** For those who slept to hear why they were closed, and for those who read to hear the last of it. */
const TIMEOUT_MS = 15_000

const awake: CountingClient[] = []
const asleep: CountingClient[] = []
/** When each position arrived at each socket that reads. */
const arrivalTimes = new Map<number, number[]>()

function onEvent(position: number): void {
  const at = performance.timeOrigin + performance.now()
  const before = arrivalTimes.get(position)
  if (before === undefined) arrivalTimes.set(position, [at])
  else before.push(at)
}

async function connect(job: Extract<Static<typeof ClientJob>, { do: 'connect' }>): Promise<Static<typeof Gathered>> {
  const { port, room, tokens, sleeperIn } = job
  for (let i = 0; i < tokens.length; i += CONNECTING_AT_ONCE) {
    const clients = tokens.slice(i, i + CONNECTING_AT_ONCE).map((token, k) => {
      const sleeps = sleeperIn > 0 && (i + k) % sleeperIn === 0
      const client = new CountingClient(port, token, room, sleeps ? () => {} : onEvent)
      if (sleeps) asleep.push(client)
      else awake.push(client)
      return client
    })
    await Promise.all(clients.map(({ ready }) => ready))
  }
  for (const client of asleep) client.sleep()
  return { awake: awake.length, asleep: asleep.length }
}

async function report(last: number, answered: readonly (readonly [number, number])[]): Promise<Static<typeof Summary>> {
  await until(() => awake.every(({ received }) => received.last >= last || received.code !== null))
  const latencies = Array.from({ length: MAX_LATENCY_MS + 1 }, () => 0)
  for (const [position, at] of answered) {
    for (const arrival of arrivalTimes.get(position) ?? []) {
      const ms = Math.min(MAX_LATENCY_MS, Math.max(0, Math.ceil(arrival - at)))
      latencies[ms] = (latencies[ms] ?? 0) + 1
    }
  }
  const views = new Set(
    awake.map(({ received: { frames, last: to, sum } }) => `${frames} frames up to ${to}, sum ${sum}`),
  )
  return {
    views: [...views],
    faults: awake.reduce((sum, { received }) => sum + received.faults, 0),
    closed: awake.filter(({ received }) => received.code !== null).length,
    latencies,
  }
}

async function resumeReading(): Promise<Static<typeof Codes>> {
  for (const client of asleep) client.resumeReading()
  await until(() => asleep.every(({ received, isOver }) => received.code !== null || isOver))
  return { codes: asleep.map(({ received }) => received.code) }
}

function disconnect(): object {
  for (const client of [...awake.splice(0), ...asleep.splice(0)]) client.end()
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
