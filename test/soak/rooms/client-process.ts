import type { Static } from '@sinclair/typebox'
import { serve } from '../../harness/process/child-process-rpc.ts'
import { CountingClient } from '../../harness/websocket/counting-client.ts'
import { type Codes, CrowdJob, type Gathered, type Story } from './jobs.ts'

/** Sockets that are opened at a time. */
const AT_A_TIME = 50
const MOST_MS = 5_000
/** For those who slept to hear why they were closed, and for those who read to hear the last of it. */
const PATIENCE_MS = 15_000

const awake: CountingClient[] = []
const asleep: CountingClient[] = []
/** When each position arrived at each socket that reads. */
const arrivals = new Map<number, number[]>()

function arrived(position: number): void {
  const at = performance.timeOrigin + performance.now()
  const before = arrivals.get(position)
  if (before === undefined) arrivals.set(position, [at])
  else before.push(at)
}

async function gather(job: Extract<Static<typeof CrowdJob>, { do: 'gather' }>): Promise<Static<typeof Gathered>> {
  const { port, room, tokens, sleeperIn } = job
  for (let i = 0; i < tokens.length; i += AT_A_TIME) {
    const clients = tokens.slice(i, i + AT_A_TIME).map((token, k) => {
      const sleeps = sleeperIn > 0 && (i + k) % sleeperIn === 0
      const client = new CountingClient(port, token, room, sleeps ? () => {} : arrived)
      if (sleeps) asleep.push(client)
      else awake.push(client)
      return client
    })
    await Promise.all(clients.map(({ ready }) => ready))
  }
  for (const client of asleep) client.sleep()
  return { awake: awake.length, asleep: asleep.length }
}

async function tell(last: number, answered: readonly (readonly [number, number])[]): Promise<Static<typeof Story>> {
  await until(() => awake.every(({ heard }) => heard.last >= last || heard.code !== null))
  const latencies = Array.from({ length: MOST_MS + 1 }, () => 0)
  for (const [position, at] of answered) {
    for (const arrival of arrivals.get(position) ?? []) {
      const ms = Math.min(MOST_MS, Math.max(0, Math.ceil(arrival - at)))
      latencies[ms] = (latencies[ms] ?? 0) + 1
    }
  }
  const views = new Set(awake.map(({ heard: { frames, last: to, sum } }) => `${frames} frames up to ${to}, sum ${sum}`))
  return {
    views: [...views],
    faults: awake.reduce((sum, { heard }) => sum + heard.faults, 0),
    closed: awake.filter(({ heard }) => heard.code !== null).length,
    latencies,
  }
}

async function wake(): Promise<Static<typeof Codes>> {
  for (const client of asleep) client.wake()
  await until(() => asleep.every(({ heard, isOver }) => heard.code !== null || isOver))
  return { codes: asleep.map(({ heard }) => heard.code) }
}

function leave(): object {
  for (const client of [...awake.splice(0), ...asleep.splice(0)]) client.end()
  arrivals.clear()
  return {}
}

async function until(done: () => boolean): Promise<void> {
  const since = performance.now()
  while (!done() && performance.now() - since < PATIENCE_MS) await new Promise((resolve) => setTimeout(resolve, 20))
}

serve(CrowdJob, async (job) => {
  switch (job.do) {
    case 'gather':
      return gather(job)
    case 'tell':
      return tell(job.last, job.answered)
    case 'wake':
      return wake()
    case 'leave':
      return leave()
  }
})
