import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Type } from '@sinclair/typebox'
import { HelperProcess } from '../../../test/harness/process/child-process-rpc.ts'
import type { Bench } from '../bench.ts'
import { type Contender, compared, progress, takeTurns } from '../rounds.ts'
import { Listening } from './clients.ts'
import { implementations, Measured } from './server.ts'

const SIZES = [500, 2_000]
const CLIENT_PROCESSES = 2
/** Events that may be undelivered when the next ones are sent; enough to keep the servers busy. */
const MAX_UNDELIVERED = 40

/**
 * Frames of 400 bytes from event to socket, without a database, compared with `ws` alone or with another checkout: single events, and ten in one turn of the event loop.
 */
export async function measureFanOut(bench: Bench): Promise<string> {
  const { checkouts } = bench
  const [ours] = checkouts
  const servers =
    checkouts.length > 1
      ? checkouts.map(({ name, folder }) => ({ name, folder, contender: 'ours' }))
      : [...implementations.keys()].map((name) => ({ name, folder: ours?.folder ?? '', contender: name }))
  const tables: string[] = []
  for (const sockets of SIZES) {
    await using cleanUp = new AsyncDisposableStack()
    const start = (file: URL): HelperProcess => {
      const helper = new HelperProcess(file, { NODE_OPTIONS: '--no-warnings' })
      cleanUp.defer(() => helper.stop())
      return helper
    }
    const contenders: Contender[] = []
    for (const { name, folder, contender } of servers) {
      progress(`${sockets} sockets to ${name}`)
      const server = start(pathToFileURL(join(folder, 'scripts/bench/live/server.ts')))
      const to = await server.call({ do: 'listen', contender, sockets }, Listening)
      const share = Math.ceil(sockets / CLIENT_PROCESSES)
      await Promise.all(
        Array.from({ length: CLIENT_PROCESSES }, (_, i) => {
          const tokens = to.tokens.slice(i * share, (i + 1) * share)
          return start(new URL('./clients.ts', import.meta.url)).call({ ...to, tokens }, Type.Object({}))
        }),
      )
      contenders.push({ name, turn: () => measureTurn(bench, server, sockets) })
    }
    // The first turns warm up.
    await takeTurns(1, contenders)
    tables.push(compared(`${sockets} sockets`, await takeTurns(bench.rounds(5), contenders)))
  }
  return tables.join('\n\n')
}

async function measureTurn(bench: Bench, server: HelperProcess, sockets: number) {
  const measure = (atOnce: number): Promise<Measured> =>
    server.call({ do: 'measure', sockets, atOnce, underWay: MAX_UNDELIVERED, ms: bench.seconds(0.5) * 1_000 }, Measured)
  const [single, ten] = [await measure(1), await measure(10)]
  return {
    'deliveries/s, single events': single.frames / single.seconds,
    'deliveries/s, ten in a turn': ten.frames / ten.seconds,
    'CPU of the server, µs a delivery, single events': single.cpuMicros / single.frames,
    'CPU, ten in a turn': ten.cpuMicros / ten.frames,
  }
}
