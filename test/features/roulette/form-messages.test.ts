import { test } from 'tap'
import { rouletteApp, rouletteUrl } from './roulette-app-fixture.ts'

test('a validation message states the expected form', async (t) => {
  const { user, operator } = await rouletteApp(t)
  const terms = { game_price: 30, max_players: 3 }
  const seed = 'must be 1 to 64 of 0-9 A-Z a-z _ -'
  const flag = 'must be true/false, 1/0, "1"/"0" or "true"/"false"'
  const errors = { client_seed: [seed], join_admin: [flag] }
  t.match((await user(1)('POST', `${rouletteUrl}/create`, { ...terms, client_seed: '!', join_admin: 'x' })).body, {
    errors,
  })
  t.match((await user(1)('POST', `${rouletteUrl}/join/1`, { client_seed: '!' })).body, {
    errors: { client_seed: [seed] },
  })
  const purge = { older_than_minutes: 0, dry_run: 'x' }
  t.match((await operator('POST', '/admin/v1/roulette/purge', purge)).body, { errors: { dry_run: [flag] } })
  const room = 'must be an id or a uid (1 to 64 characters)'
  t.match((await user(1)('POST', '/v1/instant-send', { room_id: true })).body, { errors: { room_id: [room] } })
})
