import type { WriteAllowance } from '../../../src/http/limits/write-allowance.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { createTestApp, type TestApp } from '../../harness/app/test-app.ts'
import { testOpening } from '../../harness/ledger/test-executor.ts'
import { dataOf, profile } from '../answers.ts'

export { dataOf } from '../answers.ts'

/** Users 1 to 5 with 100 coins each; rooms 1 (uid R1) with members 1 to 4 and 2 (uid R2) with member 1, both of user 6. */
export async function rouletteApp(t: Parameters<typeof createTestApp>[0], writes?: WriteAllowance): Promise<TestApp> {
  const open = await createTestApp(t, { writes })
  const { operator, user, ledger } = open
  await ledger.runOk(genesis, testOpening)
  await operator('POST', '/admin/v1/users', { users: [1, 2, 3, 4, 5, 6].map(profile) })
  for (const id of [1, 2, 3, 4, 5]) {
    await operator('POST', `/admin/v1/users/${id}/credits`, { currency: 'coins', amount: 100, reason: 'test' })
  }
  for (const id of [1, 2]) await operator('PUT', `/admin/v1/rooms/${id}`, { uid: `R${id}`, owner_id: 6 })
  for (const id of [1, 2, 3, 4]) await user(id)('GET', '/v1/rooms/R1/join')
  await user(1)('GET', '/v1/rooms/R2/join')
  return open
}

export const rouletteUrl = '/v1/rooms/R1/games/roulette'

/** A finished game of users 1 to 3 in room R1, and one of its losers. */
export async function playedGame({ user }: TestApp) {
  const terms = { game_price: 30, max_players: 3, join_admin: 1, client_seed: 'one' }
  const { id } = dataOf(await user(1)('POST', `${rouletteUrl}/create`, terms))
  await user(2)('POST', `${rouletteUrl}/join/${id}`)
  await user(3)('POST', `${rouletteUrl}/join/${id}`, { client_seed: 'three' })
  const game = dataOf(await user(2)('POST', `${rouletteUrl}/finish/${id}`))
  return { game, loser: Number(game.losers[0].id) }
}
