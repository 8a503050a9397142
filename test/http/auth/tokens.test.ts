import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'tap'
import { Sessions } from '../../../src/http/auth/sessions.ts'
import { bearer, createMinimalApp, token, validClaims } from '../../harness/app/minimal-app.ts'

test('a cached token still expires and can be revoked', async (t) => {
  let over = 0
  const sessions = new Sessions(async () => over)
  const { app } = await createMinimalApp(t, { sessions })
  const statusFor = async (text: string) => (await app.inject({ url: '/v1/things', headers: bearer(text) })).statusCode

  const short = token({ exp: Date.now() / 1000 + 1 })
  t.same([await statusFor(short), await statusFor(short)], [200, 200])
  await pause(1_100)
  t.same([await statusFor(short), await statusFor(short)], [440, 440], 'after it has expired')

  const revoked = token()
  t.equal(await statusFor(revoked), 200)
  over = validClaims().iat + 1
  sessions.invalidate(7)
  t.equal(await statusFor(revoked), 440, 'revoked')
  t.equal(await statusFor(`${revoked}x`), 401, 'another one')
})
