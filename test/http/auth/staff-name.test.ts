import { test } from 'tap'
import { plainActor, plainStaffName } from '../../../src/http/auth/caller.ts'
import { dataOf } from '../../features/answers.ts'
import { signedIn } from '../../harness/app/console-session.ts'
import { createTestApp } from '../../harness/app/test-app.ts'

test('names that differ in case, composition and outer blanks are one', async (t) => {
  for (const [name, ...others] of [
    ['rita', 'Rita', 'RITA', ' rita', 'rita\u00a0', '\ufeffRita '],
    ['zo\u00eb', 'zoe\u0308', 'ZO\u00cb', 'ZOE\u0308'],
    ['strasse', 'stra\u00dfe', 'STRASSE', 'STRA\u1e9eE'],
    ['οδοσ', 'ΟΔΟΣ', 'οδος'],
    ['kim', '\u212aim'],
    ['ılgaz'],
    ['ilgaz', 'ILGAZ'],
    ['rita ann', 'Rita Ann'],
    ['ri ta', 'RI TA'],
    ['a/b', 'A/B'],
    ['x'.repeat(100), ` ${'X'.repeat(100)} `],
  ]) {
    for (const text of [name, ...others]) t.equal(plainStaffName(text ?? ''), name, JSON.stringify(text))
    t.equal(plainActor(`Staff:${name}`), `staff:${name}`)
  }
  for (const text of [
    '',
    ' ',
    '.',
    ' .. ',
    'a\nb',
    'a\u202eb',
    '\u200b',
    'rita\u200b',
    'ri\u00adta',
    'ri\u2066ta',
    'rita\ufe0f',
    '\ud800',
    'x'.repeat(101),
    'e\u0308'.repeat(200),
  ])
    t.equal(plainStaffName(text), null, JSON.stringify(text))
  for (const actor of ['user:7', 'system', 'staff:', 'staff:..']) t.equal(plainActor(actor), actor)
})

test('one person is one, however the token writes the name', async (t) => {
  const opened = await createTestApp(t, { approvalLimits: { coins: 100 } })
  const { app, operator, staff } = opened
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  const [rita, other] = [staff('rita'), staff('Rita ')]
  const credits = '/admin/v1/users/7/credits'
  const move = { currency: 'coins', amount: 60, reason: 'a prize' }
  const key = { 'idempotency-key': 'k' }

  const first = await rita('POST', credits, move, key)
  const again = await other('POST', credits, move, key)
  t.same([again.status, again.text, again.headers['idempotency-replayed']], [201, first.text, 'true'], 'one key')

  const { id, maker } = dataOf(await other('POST', credits, move, { 'idempotency-key': 'l' }))
  t.equal(maker, 'staff:rita', 'one limit')
  t.match(await rita('POST', `/admin/v1/proposals/${id}/approve`, {}), { status: 403, body: { code: 'own_proposal' } })
  const console = await signedIn(app, 'operator', 'RITA')
  t.notMatch((await console.get(`/console/proposals/${id}`)).html, `/console/proposals/${id}/approve`)

  for (const address of ['staff?sub=Rita', 'events?actor=staff:RITA', 'live?actor=Staff%3A%20rita']) {
    t.match((await console.get(`/console/${address}`)).html, /staff\?sub=rita"/, address)
  }

  t.equal((await console.get('/console/search?q=staff:Rita')).headers['location'], '/console/staff?sub=rita')

  t.match(dataOf(await operator('POST', '/admin/v1/staff/%20RITA/revoke-sessions')), { sub: 'rita' })
  const issued = Math.floor(Date.now() / 1000) - 5
  for (const sub of ['rita', 'Rita', ' rita ']) {
    const authorization = `Bearer ${app.jwt.sign({ sub, role: 'finance', iat: issued }, { expiresIn: '1h' })}`
    const { statusCode } = await app.inject({ url: '/admin/v1/users', headers: { authorization } })
    t.equal(statusCode, 440, sub)
  }
})

test('the rate limit of a member of staff is one', async (t) => {
  const { app } = await createTestApp(t, { rateLimit: 3 })
  const ask = (sub: string) => {
    const authorization = `Bearer ${app.jwt.sign({ sub, role: 'finance' }, { expiresIn: '1h' })}`
    return app.inject({ url: '/admin/v1/nowhere', headers: { authorization } })
  }
  for (const sub of ['rita', 'Rita', 'RITA']) t.equal((await ask(sub)).statusCode, 404)
  t.equal((await ask('rita ')).statusCode, 429)
  t.equal((await ask('bob')).statusCode, 404)
})
