import { fastify } from 'fastify'
import { test } from 'tap'
import { positionHook, requestedPosition, standbyHook } from '../../src/http/positions.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { currentIncarnation, testIncarnation } from '../harness/ledger/given-when.ts'

test('every response of a client route has a position, and that of a command has its own', async (t) => {
  const { app, operator, user } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }, { id: 2 }] })
  await operator('PUT', '/admin/v1/rooms/1', { uid: 'R1', name: 'Lounge', owner_id: 2 })
  await operator('PUT', '/admin/v1/decorations/1', { name: 'Rose', kind: 'standard', price: 1 })
  await operator('POST', '/admin/v1/users/1/credits', { currency: 'diamonds', amount: 3, reason: 'test' })
  const ask = user(1)
  const gift = { u_id: 1, decoration_id: 1, user_id: [2], quantity: 1, room_id: 'R1' }
  const send = (body: object, key: string) => ask('POST', '/api/v1/instant-send', body, { 'idempotency-key': key })
  for (const [name, request, status, position] of [
    ['a read of rows', () => ask('GET', '/v1/wallet'), 200, 6],
    ['a command', () => send(gift, 'a'), 200, 7],
    ['another', () => send(gift, 'b'), 200, 8],
    ['a repeated one', () => send(gift, 'a'), 200, 8],
    ['a refused one', () => send({ ...gift, quantity: 9 }, 'c'), 422, 8],
    ['a body that does not match', () => send({}, 'd'), 422, 8],
    ['a read that finds nothing', () => ask('GET', '/api/v1/rooms/R9'), 404, 8],
    ['no route', () => ask('GET', '/api/v1/nothing'), 404, 8],
    ['the state of the app', () => ask('GET', '/v1/app-status/'), 200, 8],
    ['a read from memory', () => ask('GET', '/v1/decorations'), 200, 8],
  ] as const) {
    const { status: answered, headers } = await request()
    const { 'x-ledger-position': at, 'x-ledger': ledger } = headers
    t.same([answered, at, ledger], [status, String(position), testIncarnation], name)
  }
  const named = { 'x-ledger-position': '8', 'x-ledger': testIncarnation }
  t.match(await app.inject('/v1/wallet'), { statusCode: 401, headers: named })
  const { headers } = await operator('GET', '/admin/v1/decorations')
  t.same([headers['x-ledger-position'], headers['x-ledger']], [undefined, undefined])
})

test('what a client sends back is a position or nothing', async (t) => {
  const position = (text?: string) => requestedPosition({ headers: { 'x-ledger-position': text } }, { name: 'a' })
  t.same(['0', '120', '999999999999999'].map(position), [0, 120, 999_999_999_999_999])
  const others = [undefined, '', '-1', '1.0', '1e3', '1, 2', '1'.repeat(16)]
  t.same(
    others.filter((text) => position(text) !== null),
    [],
  )
  const of = (ledger?: string) =>
    requestedPosition({ headers: { 'x-ledger-position': '7', 'x-ledger': ledger } }, { name: 'a' })
  t.same([undefined, 'a', 'b', ''].map(of), [7, 7, null, null], 'one of another ledger is none')
})

test('where the database is a standby, a read waits for the position that it sends back', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const waited: number[] = []
  const applied = { position: 5, incarnation: currentIncarnation() }
  app.addHook('onRequest', positionHook(applied))
  app.addHook(
    'onRequest',
    standbyHook(applied, async (position) => {
      waited.push(position)
      return position < 8
    }),
  )
  app.all('/', async () => ({}))
  for (const [method, sent, answered] of [
    ['GET', '5', '5'],
    ['GET', '7', '7'],
    ['GET', '8', '5'],
    ['GET', 'x', '5'],
    ['POST', '7', '5'],
  ] as const) {
    const { headers } = await app.inject({ method, url: '/', headers: { 'x-ledger-position': sent } })
    t.equal(headers['x-ledger-position'], answered, `${method} ${sent}`)
  }
  t.same(waited, [7, 8])
})
