import { test } from 'tap'
import { tokenKey } from '../../../src/http/auth/gate.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { createTestApp } from '../../harness/app/test-app.ts'

test('app-status is always answered; beyond the limit of the address only a valid token is stored', async (t) => {
  const { app, clients } = await createTestApp(t, { addressLimit: new AddressLimit(1) })
  const sign = (sub: string, exp: number): string => app.jwt.sign({ sub, iat: 1_000_000_000, exp })
  const ask = async (token: string | null): Promise<number> => {
    const client = { 'client-type': 'android', 'client-version': '1.2' }
    const headers = token === null ? client : { ...client, authorization: `Bearer ${token}` }
    return (await app.inject({ url: '/v1/app-status', headers })).statusCode
  }
  const isRemembered = (token: string): boolean => clients.get(tokenKey(token)) !== undefined
  const expired = [1, 2].map((sub) => sign(String(sub), 1_000_000_100))
  const [first = '', second = ''] = expired
  for (let i = 0; i < 3; i += 1) t.equal(await ask(null), 200, 'nothing of it would be stored')
  t.equal(await ask(first), 200)
  t.ok(isRemembered(first))
  t.equal(await ask(second), 200)
  t.notOk(isRemembered(second))
  const good = sign('3', Math.floor(Date.now() / 1000) + 60)
  t.equal(await ask(good), 200)
  t.ok(isRemembered(good))
})
