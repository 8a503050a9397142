import { bytesOf, jsonRequest } from '../../../test/harness/http/request.ts'
import { queryRows } from '../../../test/harness/ledger/test-executor.ts'
import type { TestDatabase } from '../../../test/harness/postgres/test-database.ts'
import type { Bench, Checkout } from '../bench.ts'
import { progress } from '../rounds.ts'
import { seedWith } from '../seed.ts'
import { type Server, sendJson, startServer } from '../servers.ts'
import { between, giftRequest, LUCKY_GIFT, operatorToken, tokenOf, USERS } from '../workload.ts'

/** The user and the room of a socket. */
export type Seat = readonly [user: number, room: number]

/** Users with sockets, from 1; the others send and receive gifts, so that no socket gets frames of its own user. */
const LISTENERS = 8_000
/** The user of a socket: several sockets share one when there are more than users with sockets. */
export const listener = (socket: number): number => 1 + (socket % LISTENERS)
export const BIG_ROOM = 1
export const SOCKETS_OF_SMALL_ROOM = 100

/** A lucky gift in a room, from a user without a socket to another one. */
export function giftIn(room: number): Buffer {
  const middle = Math.floor((LISTENERS + USERS) / 2)
  const [sender, receiver] = [between(LISTENERS + 1, middle), between(middle + 1, USERS)]
  return giftRequest({ sender, receiver, room, id: LUCKY_GIFT })
}

export const anyWallet = (): Buffer =>
  bytesOf(jsonRequest('GET', '/api/v1/wallet', tokenOf(between(LISTENERS + 1, USERS))))

/** A database of a checkout with members in rooms, and its service. */
export async function startWith(
  bench: Bench,
  checkout: Checkout,
  name: string,
  seats: readonly Seat[],
): Promise<{ readonly server: Server; readonly database: TestDatabase }> {
  progress(`seeding for ${checkout.name}`)
  const database = await bench.cluster.create(`${name}_${checkout.name}`)
  await seedWith(checkout, database)
  // Not by requests, of which ten thousand would take as long as the measurement.
  const rows = seats.map(([user, room]) => `(${room}, ${user}, now())`)
  await queryRows(database, `insert into room_memberships values ${rows.join()} on conflict do nothing`)
  const server = await startServer(bench, { ...checkout, database })
  const odds = [0, 1].map((multiplier) => ({ multiplier, weight: 1 }))
  const gift = { name: 'Lucky clover', kind: 'lucky', price: 100, image_path: 'gifts/clover.webp', odds }
  await sendJson(server.port, operatorToken('bench'), 'PUT', `/admin/v1/decorations/${LUCKY_GIFT}`, gift)
  return { server, database }
}
