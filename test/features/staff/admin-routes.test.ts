import { test } from 'tap'
import { createTestApp, type SendRequest } from '../../harness/app/test-app.ts'

const seconds = (): number => Math.floor(Date.now() / 1000)

test('operators revoke the sessions of staff', async (t) => {
  const instance = await createTestApp(t)
  const as =
    (sub: string, role: string, iat = seconds() - 10): SendRequest =>
    async (method, url) => {
      const headers = { authorization: `Bearer ${instance.app.jwt.sign({ sub, role, iat }, { expiresIn: '1h' })}` }
      const response = await instance.app.inject({ method, url, headers })
      return { status: response.statusCode, text: response.body, body: response.json(), headers: response.headers }
    }
  const path = '/admin/v1/staff/bob/revoke-sessions'
  const nowhere = '/admin/v1/nowhere'
  t.equal((await as('bob', 'operator')('GET', nowhere)).status, 404, 'the token is valid')
  t.equal((await as('fin', 'finance')('POST', path)).status, 403)
  t.equal((await instance.user(7)('POST', path)).status, 403)

  const revoked = await instance.operator('POST', path)
  t.equal(revoked.status, 200)
  t.match(revoked.body, { data: { sub: 'bob', sessions_revoked_before: /\.000000Z$/ } })
  t.match((await as('bob', 'operator')('GET', nowhere)).body, { code: 'session_expired' })
  t.equal((await as('bob', 'finance')('GET', nowhere)).status, 440, 'in whatever role')
  t.equal((await as('bob', 'operator', seconds() + 1)('GET', nowhere)).status, 404, 'after the next login')
  t.equal((await as('bo', 'operator')('GET', nowhere)).status, 404, 'another')

  t.equal((await instance.operator('POST', '/admin/v1/staff/never%20seen/revoke-sessions')).status, 200)
  t.equal((await as('never seen', 'finance')('GET', nowhere)).status, 440)
  for (const sub of ['%0A', '%E2%80%8B', 'x'.repeat(101)]) {
    t.equal((await instance.operator('POST', `/admin/v1/staff/${sub}/revoke-sessions`)).status, 404, sub)
  }
  t.same(instance.ledger.bugs, [])
})
