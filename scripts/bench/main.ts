import { type Bench, runBench } from './bench.ts'
import { measureHistories } from './requests/measure-histories.ts'
import { measureRequests, type Scenario } from './requests/measure-requests.ts'
import { keyedGifts, luckyGifts, mixed, type NextRequest, readsOf, uniformGifts } from './workload.ts'

/** So many that users have something to read and gamblers their chains. */
const EVENTS = 60_000

const scenarios = (requests: Readonly<Record<string, NextRequest>>, ...connections: readonly number[]): Scenario[] =>
  connections.flatMap((count) => Object.entries(requests).map(([name, next]) => ({ name, connections: count, next })))

/** The mix is that of an app: 80% reads, 20% gifts. */
function reads(): Readonly<Record<string, NextRequest>> {
  const wallet = readsOf(() => '/api/v1/wallet')
  const room = readsOf((room) => `/api/v1/rooms/r${room}`)
  return { wallet, room, mix: mixed([wallet, 45], [room, 35], [uniformGifts(), 20]) }
}

await runBench('npm run bench', {
  gifts: (bench: Bench) => measureRequests(bench, 'gifts', scenarios({ gifts: uniformGifts() }, 64, 256)),
  lucky: (bench: Bench) => measureRequests(bench, 'lucky', scenarios({ 'lucky gifts': luckyGifts() }, 64, 256), EVENTS),
  lone: (bench: Bench) => measureRequests(bench, 'lone', scenarios({ gifts: uniformGifts() }, 1)),
  keys: (bench: Bench) => measureRequests(bench, 'keys', scenarios({ 'gifts with keys': keyedGifts() }, 64, 256)),
  reads: (bench: Bench) => measureRequests(bench, 'reads', scenarios(reads(), 64, 256, 1), EVENTS),
  histories: (bench: Bench) => measureHistories(bench, 600, 1_200, 2_000, null),
})
