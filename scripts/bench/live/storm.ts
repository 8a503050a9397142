import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from '../../../test/harness/load/clock.ts'
import { percentile } from '../../../test/harness/load/percentiles.ts'
import type { Bench, Checkout } from '../bench.ts'
import { type Contender, compared, progress, type Turn, takeTurns } from '../rounds.ts'
import { startServer } from '../servers.ts'
import { between } from '../workload.ts'
import { PacedCalls } from './paced-calls.ts'
import { anyWallet, BIG_ROOM, giftIn, listener, type Seat, SOCKETS_OF_SMALL_ROOM, startWith } from './service.ts'
import { openSockets } from './sockets.ts'

/** Requests a second of each of the four kinds. */
const PER_SECOND = 25
/** Before the fault, for comparison. */
const QUIET_MS = 5_000

/**
 * Half of the sockets are in one room and the others in rooms of 100, while gifts and wallets use kept connections and
 * new ones. The service is killed, another one starts on its ports, and all sockets come back at once.
 */
export async function measureStorm(bench: Bench): Promise<string> {
  const sockets = bench.size(10_000, 400)
  const roomOf = (socket: number): number =>
    socket < sockets / 2 ? BIG_ROOM : 2 + Math.floor((socket - sockets / 2) / SOCKETS_OF_SMALL_ROOM)
  const seats = Array.from({ length: sockets }, (_, socket): Seat => [listener(socket), roomOf(socket)])
  const contenders: Contender[] = []
  for (const checkout of bench.checkouts) contenders.push(await open(bench, checkout, seats))
  return compared(`${sockets} sockets after \`kill -9\``, await takeTurns(bench.rounds(1), contenders))
}

async function open(bench: Bench, checkout: Checkout, seats: readonly Seat[]): Promise<Contender> {
  const started = await startWith(bench, checkout, 'storm', seats)
  let { server } = started
  progress(`opening ${seats.length} sockets`)
  const awaitLive = await openSockets(bench, server, seats)
  const rooms = seats.at(-1)?.[1] ?? 1
  const gift = (): Buffer => giftIn(between(1, rooms))

  return {
    name: checkout.name,
    async turn(): Promise<Turn> {
      const pace = { port: server.port, perSecond: PER_SECOND }
      const gifts = new PacedCalls({ ...pace, next: gift })
      const wallets = new PacedCalls({ ...pace, next: anyWallet })
      const freshGifts = new PacedCalls({ ...pace, next: gift, isFresh: true })
      const freshWallets = new PacedCalls({ ...pace, next: anyWallet, isFresh: true })
      const quietFrom = clock()
      await sleep(QUIET_MS)
      const killedAt = clock()
      await server.stop('SIGKILL')
      server = await startServer(bench, { ...checkout, database: started.database, former: server })
      const { readyAt } = server
      const returned = await awaitLive(killedAt)
      const all = [gifts, wallets, freshGifts, freshWallets]
      await Promise.all(all.map((calls) => calls.stop()))
      for (const { endings } of returned) progress(endings.map(([what, times]) => `${times} of ${what}`).join('; '))
      const backMs = returned.flatMap(({ liveAt }) => liveAt.map((at) => at - readyAt)).sort((a, b) => a - b)
      const missing = returned.reduce((sum, live) => sum + live.missing, 0)
      const until = readyAt + (backMs.at(-1) ?? 0)
      const meanwhile = all.map((calls) => calls.latencies(readyAt, until))
      return {
        'another service is ready after, s': (readyAt - killedAt) / 1_000,
        'from then on half of the sockets are live after, s': percentile(backMs, 50) / 1_000,
        '90%': percentile(backMs, 90) / 1_000,
        'the last': percentile(backMs, 100) / 1_000,
        'live within 20 s': backMs.filter((ms) => ms <= 20_000).length,
        'never live': missing,
        'p99 of gifts before, ms': gifts.latencies(quietFrom, killedAt).p99,
        'p99 of gifts meanwhile': gifts.latencies(readyAt, until).p99,
        'the same on new connections': freshGifts.latencies(readyAt, until).p99,
        'the longest request meanwhile, s': Math.max(...meanwhile.map(({ max }) => max)) / 1_000,
        'requests without an answer': meanwhile.reduce((sum, { lost }) => sum + lost, 0),
      }
    },
  }
}
