import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { percentile, Samples } from '../../test/harness/load/percentiles.ts'
import { openBench, progress } from './bench.ts'
import { signTokens } from './load/requests.ts'
import { keys } from './run/keys.ts'
import { runAndExit } from './run/run-and-exit.ts'

// What routes without a token cost other users: latency of GET /wallet alone, and while 20 connections without a token
// load one route again and again. `node scripts/bench/open-routes.ts`

const CONNECTIONS = 20
const SECONDS = 3
const bundle = '/docs/static/swagger-ui-bundle.js'
const routes = [
  '/docs/json',
  bundle,
  '/docs',
  '/docs/asyncapi.json',
  '/metrics',
  '/readyz',
  '/healthz',
  '/v1/app-status',
  '/',
]

/** Answers the status after the whole body was read. */
const get = (agent: Agent, port: number, path: string, headers = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    request({ agent, host: '127.0.0.1', port, path, headers }, (response) => {
      response.on('end', () => resolve(response.statusCode ?? 0)).resume()
    })
      .on('error', reject)
      .end()
  })

/** The worker thread that loads a route; runs until it is terminated. */
async function load(port: number, path: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (;;) await get(agent, port, path)
    }),
  )
}

async function walletLatency(port: number, token: string): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const samples = new Samples()
  const until = performance.now() + SECONDS * 1_000
  while (performance.now() < until) {
    const started = performance.now()
    const status = await get(agent, port, '/v1/wallet', { authorization: `Bearer ${token}` })
    if (status !== 200) throw new Error(`the wallet was answered ${status}`)
    samples.add(performance.now() - started)
  }
  agent.destroy()
  const sorted = samples.sorted()
  return `${percentile(sorted, 50).toFixed(1)} | ${percentile(sorted, 99).toFixed(1)}`
}

async function measure(cleanUp: AsyncDisposableStack): Promise<string> {
  const options = {
    rounds: 1,
    seconds: SECONDS,
    parts: [],
    reads: [],
    events: 0,
    keyed: false,
    rateLimited: false,
    profile: false,
    report: null,
    against: null,
  }
  const bench = await openBench(options, cleanUp)
  const { port } = await bench.servers.ours(await bench.seeded('open_routes'))
  const token = signTokens(keys.JWT_SECRET)[0] ?? ''
  await walletLatency(port, token)
  const lines = [`| nothing | ${await walletLatency(port, token)} |`]
  for (const path of routes) {
    progress(path)
    const worker = new Worker(new URL(import.meta.url), { workerData: { port, path } })
    await sleep(500)
    lines.push(`| ${path} | ${await walletLatency(port, token)} |`)
    await worker.terminate()
  }
  return ['| 20 connections load | wallet p50 ms | p99 ms |', '| --- | ---: | ---: |', ...lines].join('\n')
}

if (isMainThread) await runAndExit(measure)
else {
  const { port, path } = Value.Parse(Type.Object({ port: Type.Integer(), path: Type.String() }), workerData)
  await load(port, path)
}
