import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { HelperProcess } from '../../../../test/harness/process/child-process-rpc.ts'
import type { DatabaseUrls } from '../../run/cluster.ts'
import type { LiveBench, LiveServer, Member } from '../service/live-service.ts'
import { listener, roomUid } from '../service/requests.ts'
import { Done, type RoomEvents } from './jobs.ts'

const PROCESSES = 2
const SOCKETS_OF_SMALL_ROOM = 100

/** Half of the sockets in room 1, the others in rooms of a hundred. */
export class RoomPopulation {
  /** The user and the room of each socket. */
  readonly seats: readonly Member[]
  /** The number of rooms. */
  readonly rooms: number

  constructor(sockets: number) {
    const big = Math.floor(sockets / 2)
    const roomOf = (socket: number): number =>
      socket < big ? 1 : 2 + Math.floor((socket - big) / SOCKETS_OF_SMALL_ROOM)
    this.seats = Array.from({ length: sockets }, (_, socket) => [listener(socket), roomOf(socket)])
    this.rooms = roomOf(sockets - 1)
  }

  /** Opens the sockets, or some of them, in processes that `bench` ends. Throws when one of them is not subscribed in time. */
  async connect(
    bench: LiveBench,
    { port, livePort }: LiveServer,
    ofSeats: readonly Member[] = this.seats,
  ): Promise<readonly HelperProcess[]> {
    const takesBatches = await documentsBatches(port)
    const processes = Array.from({ length: PROCESSES }, () => bench.clients(new URL('./sockets.ts', import.meta.url)))
    await Promise.all(
      processes.map((each, i) => {
        const seats = ofSeats.filter((_, socket) => socket % PROCESSES === i)
        const localAddress = `127.0.0.${2 + i}`
        return each.call({ do: 'connect', port: livePort, localAddress, takesBatches, seats }, Done)
      }),
    )
    return processes
  }
}

/** Whether a service, of this checkout or an older one, takes several channels in one `sub`. */
export async function documentsBatches(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/docs/asyncapi.json`)
  if (!response.ok) throw new Error(`answered ${response.status}`)
  return (await response.text()).includes('"chs"')
}

const Rows = Type.Array(
  Type.Object({ room: Type.String(), events: Type.String(), last: Type.String(), sum: Type.String() }),
)

/** The lucky gifts of each room, by the ledger. */
export async function giftsByRoom({ cluster }: LiveBench, { ownerUrl }: DatabaseUrls): Promise<RoomEvents[]> {
  const rows = await cluster.ask(
    `select data::json->>'room_id' as room, count(*) as events, max(position) as last, sum(position) as sum
     from ledger_events where type = 'gift-drawn' group by 1`,
    new URL(ownerUrl).pathname.slice(1),
  )
  return Value.Parse(Rows, rows).map(({ room, events, last, sum }) => ({
    uid: roomUid(Number(room)),
    events: Number(events),
    last: Number(last),
    sum: Number(sum),
  }))
}
