import { defineRoom } from '../../../src/features/rooms/define-room.ts'
import { joinRoom } from '../../../src/features/rooms/member.ts'
import { openGame } from '../../../src/features/roulette/open.ts'
import { joinGame } from '../../../src/features/roulette/seats.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import { credit } from '../../../src/features/wallet/balance-move.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { createTestExecutor, testOpening, testSpins } from '../../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../../harness/postgres/test-database.ts'

/** `rooms` rooms of three members with 100 coins each, and in each room an open game that two of them joined. */
export async function openedGames(t: Parameters<typeof createTestExecutor>[0], database: TestDatabase, rooms: number) {
  const ledger = createTestExecutor(t, database.serviceUrl)
  const numbers = Array.from({ length: rooms }, (_, i) => i + 1)
  const members = (room: number) => [room * 3 - 2, room * 3 - 1, room * 3] as const
  const people = numbers.flatMap((room) => members(room).map((id) => ({ id })))
  await ledger.runOk(genesis, testOpening)
  await ledger.runOk(defineUsers, { users: people, listed: true })
  await Promise.all(numbers.map((room) => ledger.runOk(defineRoom, { id: room, owner_id: room })))
  await Promise.all([
    ...people.map(({ id }) => ledger.runOk(credit, { user_id: id, currency: 'coins', amount: 100, reason: 'test' })),
    ...numbers.flatMap((room) => members(room).map((id) => ledger.runOk(joinRoom, { room_id: room, caller_id: id }))),
  ])
  const terms = { game_price: 40, max_players: 3, join_admin: true, client_seed: '' }
  const verb = openGame({ spins: testSpins, feePercent: 0 })
  const made = await Promise.all(
    numbers.map(async (room) => {
      const [creator, second, third] = members(room)
      const { game } = await ledger.runOk(verb, { ...terms, caller_id: creator, room })
      const id = game.game_id
      await ledger.runOk(joinGame, { caller_id: second, room, game: id, client_seed: '' })
      return { room, game: id, creator, second, third }
    }),
  )
  return { ledger, made }
}
