import { Worker } from 'node:worker_threads'
import { clock } from '../../../test/harness/load/clock.ts'
import { Connection } from '../../../test/harness/load/load-connection.ts'
import { percentile, Samples } from '../../../test/harness/load/percentiles.ts'
import type { Measured } from './job.ts'

/** The start of a loop, when its connections are new; of a short loop a quarter of its time. */
const MAX_UNMEASURED_MS = 300
/** More than are ever busy at these rates. */
const OPEN_CONNECTIONS = 64

type Next = () => Buffer

/** Opens connections, waits for the end of `drive`, and closes them in any case. */
async function withConnections(
  ports: readonly number[],
  count: number,
  drive: (
    connections: readonly Connection[],
    onAnswer: (answered: (connection: Connection) => void) => void,
  ) => Promise<void>,
): Promise<void> {
  const failure = Promise.withResolvers<never>()
  let answered = (_connection: Connection): void => {}
  const listener = { answered: (connection: Connection) => answered(connection), failed: failure.reject }
  const opening = Array.from({ length: count }, (_, i) => Connection.open(ports[i % ports.length] ?? 0, listener))
  try {
    const connections = await Promise.race([Promise.all(opening), failure.promise])
    const onAnswer = (handler: typeof answered): void => {
      answered = handler
    }
    await Promise.race([drive(connections, onAnswer), failure.promise])
  } finally {
    // The promise of a connection that could not be opened stays pending.
    for (const opened of opening) void opened.then((connection) => connection.close())
  }
}

/** Sends so many requests, a few at a time. */
export async function sendAll(port: number, count: number, request: (i: number) => Buffer): Promise<void> {
  await withConnections([port], 32, (connections, onAnswer) => {
    const done = Promise.withResolvers<void>()
    let sent = 0
    let answers = 0
    const next = (connection: Connection): void => {
      if (sent < count) connection.send(request(sent++), 0)
    }
    onAnswer((connection) => {
      answers += 1
      if (answers === count) done.resolve()
      else next(connection)
    })
    for (const connection of connections) next(connection)
    return done.promise
  })
}

/** Each connection sends its next request when the last one is answered. */
export async function closedLoop(
  ports: readonly number[],
  count: number,
  seconds: number,
  next: Next,
): Promise<Measured> {
  const latencies = new Samples()
  let answers = 0
  await withConnections(ports, count, (connections, onAnswer) => {
    const done = Promise.withResolvers<void>()
    const from = performance.now() + Math.min(MAX_UNMEASURED_MS, seconds * 250)
    const until = from + seconds * 1000
    let busy = connections.length
    onAnswer((connection) => {
      const now = performance.now()
      answers += 1
      if (now >= from && now < until) latencies.add(now - connection.startedAt)
      if (now < until) {
        connection.send(next(), now)
      } else {
        busy -= 1
        if (busy === 0) done.resolve()
      }
    })
    for (const connection of connections) connection.send(next(), performance.now())
    return done.promise
  })
  return measured(latencies, answers, latencies.count / seconds)
}

/**
 * Sends so many requests a second at even intervals. Latency counts from the time when a request was due, so that it
 * includes the wait for a connection while answers are slow.
 */
export async function openLoop(port: number, perSecond: number, seconds: number, next: Next): Promise<Measured> {
  const latencies = new Samples()
  const count = Math.round(perSecond * seconds)
  await withConnections([port], OPEN_CONNECTIONS, async (connections, onAnswer) => {
    const done = Promise.withResolvers<void>()
    const idle = [...connections]
    /** When the requests that wait for a connection were due. */
    const waiting: number[] = []
    const dispatch = (): void => {
      while (idle.length > 0) {
        const due = waiting.shift()
        if (due === undefined) return
        idle.pop()?.send(next(), due)
      }
    }
    onAnswer((connection) => {
      latencies.add(clock() - connection.startedAt)
      idle.push(connection)
      if (latencies.count === count) done.resolve()
      else dispatch()
    })
    const pacer = new Worker(new URL('../../../test/harness/load/pacer.ts', import.meta.url), {
      workerData: { perSecond, count },
    })
    pacer.on('error', done.reject)
    pacer.on('message', (due: number) => {
      waiting.push(due)
      dispatch()
    })
    try {
      await done.promise
    } finally {
      await pacer.terminate()
    }
  })
  return measured(latencies, count, perSecond)
}

function measured(latencies: Samples, answered: number, perSecond: number): Measured {
  const sorted = latencies.sorted()
  return { answered, perSecond, p50: percentile(sorted, 50), p99: percentile(sorted, 99), max: percentile(sorted, 100) }
}
