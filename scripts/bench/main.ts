import { aborted } from '../../src/start/signals.ts'
import { type Bench, openBench } from './bench.ts'
import { measureGate } from './gate.ts'
import { measureGrowth } from './growth.ts'
import { measureInProcess } from './in-process.ts'
import { describeRun } from './machine.ts'
import { readOptions } from './options.ts'
import { measureHttp } from './over-http.ts'
import { profile } from './profile.ts'
import { report } from './report.ts'

async function measure(bench: Bench): Promise<string> {
  const { options, cluster } = bench
  if (options.profile) return profile(bench)
  const http = await measureHttp(bench)
  const inProcess = options.parts.includes('inprocess') ? await measureInProcess(bench) : null
  const growth = options.parts.includes('growth') ? await measureGrowth(bench) : null
  const gate = options.parts.includes('gate') ? await measureGate(bench) : null
  const heading = [
    ...(await describeRun(cluster)),
    `Rounds: ${options.rounds} of ${options.seconds} s a contender, taking turns; medians, and medians of each round's ratios${options.keyed ? '; an idempotency key with every request' : ''}`,
  ]
  return report(heading, { http, inProcess, growth, gate })
}

const stop = new AbortController()
// Again and again does no harm: cleaning up is not cut short.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort())
const cleanUp = new AsyncDisposableStack()
try {
  const run = openBench(readOptions(process.argv), cleanUp).then(measure)
  const text = await Promise.race([run, aborted(stop.signal).then(() => null)])
  if (text === null) process.exitCode = 1
  else console.log(text)
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
await cleanUp.disposeAsync()
process.exit()
