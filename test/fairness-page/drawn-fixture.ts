import { createDemoApp } from '../harness/app/demo-app.ts'
import type { TestApp } from '../harness/app/test-app.ts'

interface Drawn {
  readonly app: TestApp['app']
  readonly operator: TestApp['operator']
  /** What user 1 was answered before the draws: `GET /fairness/lucky`. */
  readonly chains: string
  /** What user 1 is answered: a page of `GET /fairness/lucky/draws`. */
  readonly draws: string
  /** The response with the finished game of users 1 to 3. */
  readonly game: string
}

/** Lucky gifts of user 1 to users 2 and 3, and a finished game, on the demo data. The same draws in each run. */
export async function drawnFixture(t: Parameters<typeof createDemoApp>[0]): Promise<Drawn> {
  const { app, user, operator } = await createDemoApp(t)
  const chains = (await user(1)('GET', '/api/v1/fairness/lucky')).text
  const gift = { u_id: 1, decoration_id: 3, user_id: [2, 3], quantity: 5, room_id: 'R1' }
  for (let i = 0; i < 12; i += 1) await user(1)('POST', '/api/v1/instant-send', gift)
  const draws = (await user(1)('GET', '/api/v1/fairness/lucky/draws')).text
  const roulette = '/v1/rooms/R1/games/roulette'
  const terms = { game_price: 30, max_players: 3, join_admin: 1, client_seed: 'one' }
  const created = Object((await user(1)('POST', `${roulette}/create`, terms)).body).data
  for (const id of [2, 3]) await user(id)('POST', `${roulette}/join/${created.id}`, { client_seed: `seed-${id}` })
  const game = (await user(1)('POST', `${roulette}/finish/${created.id}`)).text
  return { app, operator, chains, draws, game }
}
