import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../../../test/harness/load/percentiles.ts'
import { progress } from '../../bench.ts'
import { type Line, table } from '../../markdown.ts'
import type { RoomEvents } from '../room-sockets/jobs.ts'
import { documentsBatches, giftsByRoom } from '../room-sockets/population.ts'
import { type Contender, defineLuckyGift, type LiveBench, type Member } from '../service/live-service.ts'
import { PacedCalls } from '../service/paced-calls.ts'
import { giftIn, listener, positionIn } from '../service/requests.ts'
import { ManyRoomsClient, type Restored, type Way } from './many-rooms-client.ts'

/** As many as a socket may have. */
const ROOMS = 50
const CUTS = 20
/** In all rooms together. */
const EVENTS_PER_SECOND = 50
/** How long the client is away. */
const AWAY_MS = 1_000
const FRAMES_TOO_FAST = 4108

/** A client of fifty rooms is cut again and again and restores them, with one frame or with one for each. */
export async function measureRestore(bench: LiveBench): Promise<string> {
  const cuts = bench.options.rounds ?? CUTS
  const rows: Line[] = []
  for (const contender of bench.contenders) rows.push(...(await measureContender(bench, contender, cuts)))
  return [
    `## A client of ${ROOMS} rooms comes back`,
    '',
    `${cuts} times each way, after ${AWAY_MS / 1_000} s, beside ${EVENTS_PER_SECOND} events a second in its rooms; from the start of the connection, medians and maxima`,
    '',
    ...table(
      [
        '',
        '`ready`, ms',
        'all rooms whole, ms',
        'whole',
        'closed with 4108',
        'rooms that differ from the ledger',
        'frames twice or out of order',
        'rooms not resumed',
      ],
      rows,
    ),
  ].join('\n')
}

async function measureContender(bench: LiveBench, contender: Contender, cuts: number): Promise<Line[]> {
  const members = Array.from({ length: ROOMS }, (_, i): Member => [listener(0), i + 1])
  const database = await bench.seeded(contender, members)
  const { port, livePort } = await bench.start(database, contender)
  await defineLuckyGift(port)
  const ways: readonly Way[] = [
    ...((await documentsBatches(port)) ? ['one frame' as const] : []),
    'a frame for each room, 20 a second',
    'a frame for each room, at once',
  ]
  const rows: Line[] = []
  for (const way of ways) {
    progress(`restoring ${ROOMS} rooms to ${contender.name}: ${way}`)
    const client = new ManyRoomsClient(ROOMS)
    const before = await giftsByRoom(bench, database)
    await client.restore(livePort, 'a frame for each room, 20 a second', new Map())
    /** The newest event of each room that was answered. */
    const last = new Map<string, number>()
    let next = 0
    const gifts = new PacedCalls({
      port: () => port,
      perSecond: EVENTS_PER_SECOND,
      next: () => giftIn(1 + (next++ % ROOMS)),
      onAnswer: ({ text }) => last.set(/"room_uid":"(\w+)"/.exec(text)?.[1] ?? '', positionIn(text)),
    })
    gifts.start()
    const restored: Restored[] = []
    for (let i = 0; i < cuts; i += 1) {
      client.cut()
      await sleep(AWAY_MS)
      restored.push(await client.restore(livePort, way, new Map(last)))
    }
    await gifts.stop()
    // However it went until now: once more, the way that always works.
    client.cut()
    await client.restore(livePort, 'a frame for each room, 20 a second', last)
    const different = differences(client, before, await giftsByRoom(bench, database))
    client.cut()
    rows.push([
      `${contender.name}, ${way}`,
      summary(restored.map(({ readyMs }) => readyMs)),
      summary(restored.map(({ wholeMs }) => wholeMs).filter((ms) => ms !== null)),
      restored.filter(({ wholeMs }) => wholeMs !== null).length,
      restored.filter(({ code }) => code === FRAMES_TOO_FAST).length,
      different,
      client.cursors.reduce((sum, { faults }) => sum + faults, 0),
      client.notResumed,
    ])
  }
  return rows
}

/** Rooms whose events between two times are not those that the client received. */
function differences(
  { cursors }: ManyRoomsClient,
  before: readonly RoomEvents[],
  after: readonly RoomEvents[],
): number {
  const none = { events: 0, sum: 0 }
  const of = (all: readonly RoomEvents[], uid: string) => all.find((room) => room.uid === uid) ?? none
  return cursors.filter(({ uid, received }) => {
    const [first, then] = [of(before, uid), of(after, uid)]
    return received.events !== then.events - first.events || received.sum !== then.sum - first.sum
  }).length
}

const summary = (values: readonly number[]): string =>
  values.length === 0 ? '–' : `${median(values).toFixed(0)}, ${Math.max(...values).toFixed(0)}`
