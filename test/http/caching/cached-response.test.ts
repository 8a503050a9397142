import { gunzipSync } from 'node:zlib'
import { test } from 'tap'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { slices } from '../../../src/slices.ts'
import { token } from '../../harness/app/minimal-app.ts'
import { startInstance, type TestInstance } from '../../harness/app/realtime-instance.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { proxy } from '../../harness/postgres/proxy.ts'
import { testDatabase } from '../../harness/postgres/test-database.ts'
import { until } from '../../harness/until.ts'

const odds = [
  { multiplier: 0, weight: 3 },
  { multiplier: 2.5, weight: 1 },
]
const namesOf = (body: unknown): string[] => Object(body).data.map(({ name }: { name: string }) => name)

test('gifts and odds are answered from memory, with a tag', async (t) => {
  const { app, operator, user } = await createTestApp(t)
  const gift = { name: 'Clover', kind: 'lucky', price: 10, odds }
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }] })
  const { body } = await operator('PUT', '/admin/v1/decorations/1', gift)
  const authorization = `Bearer ${app.jwt.sign({ sub: '1' }, { expiresIn: '1h' })}`
  for (const url of ['/api/v1/decorations', '/v1/decorations/', `/v1/fairness/odds/${Object(body).data.odds_hash}`]) {
    const whole = await app.inject({ url, headers: { authorization } })
    t.match(whole, { statusCode: 200, headers: { 'content-type': /json/, etag: /^"[\w-]+"$/ } }, url)
    const { etag } = whole.headers
    const same = { etag, vary: 'Accept-Encoding', 'cache-control': 'private, no-cache', 'x-ledger-position': '2' }
    t.match(whole.headers, same)
    const known = await app.inject({ url, headers: { authorization, 'if-none-match': etag } })
    t.match(known, { statusCode: 304, body: '', headers: same })
    t.equal(known.headers['content-type'], undefined)
    const head = await app.inject({ url, method: 'HEAD', headers: { authorization } })
    t.match(head, {
      statusCode: 200,
      body: '',
      headers: { ...same, 'content-length': String(whole.rawPayload.length) },
    })
    const packed = await app.inject({ url, headers: { authorization, 'accept-encoding': 'gzip' } })
    t.ok(gunzipSync(packed.rawPayload).equals(whole.rawPayload))
    t.not(packed.headers.etag, etag, 'other bytes')
    t.match(
      await app.inject({ url, headers: { 'if-none-match': etag } }),
      { statusCode: 304, headers: same },
      'no token',
    )
    const expired = app.jwt.sign({ sub: '1', exp: 1 })
    const withExpired = await app.inject({ url, headers: { authorization: `Bearer ${expired}` } })
    t.equal(withExpired.statusCode, 200, 'a token that is not valid is none')
  }
  const ask = user(1)
  const tags = new Set<unknown>()
  for (let i = 1; i <= 5; i += 1) {
    const unrelated = ask('GET', '/v1/decorations')
    await operator('PUT', '/admin/v1/decorations/1', { ...gift, name: `Rose ${i}` })
    const { body, headers } = await ask('GET', '/v1/decorations')
    t.same(namesOf(body), [`Rose ${i}`], 'a change is seen by a read after its answer')
    tags.add(headers['etag'])
    await unrelated
  }
  t.equal(tags.size, 5, 'and changes the tag')
})

test('without a token, gifts are closed by maintenance and count against the address', async (t) => {
  const { app, operator } = await createTestApp(t, { addressLimit: new AddressLimit(2) })
  const url = '/api/v1/decorations'
  await operator('PUT', '/admin/v1/app-mode', { maintenance: true })
  t.equal((await app.inject(url)).statusCode, 503)
  await operator('PUT', '/admin/v1/app-mode', { maintenance: false })
  t.equal((await app.inject(url)).statusCode, 200)
  t.equal((await app.inject(url)).statusCode, 200)
  t.match(await app.inject(url), { statusCode: 429, headers: { 'retry-after': String } })
})

const authorization = `Bearer ${token({ sub: '1' })}`
const operator = { authorization: `Bearer ${token({ sub: 'ann', role: 'operator' })}` }
const json = { 'content-type': 'application/json' }

async function ask({ origin }: TestInstance, position?: string) {
  const headers = { authorization, ...(position !== undefined && { 'x-ledger-position': position }) }
  const response = await fetch(`${origin}/v1/decorations`, { headers })
  return { names: namesOf(await response.json()), position: response.headers.get('x-ledger-position') ?? '' }
}

async function define({ origin }: TestInstance, name: string): Promise<string> {
  const response = await fetch(`${origin}/admin/v1/decorations/1`, {
    method: 'PUT',
    headers: { ...operator, ...json },
    body: JSON.stringify({ name, kind: 'standard', price: 1 }),
  })
  return response.headers.get('x-ledger-position') ?? ''
}

const defineUser = ({ origin }: TestInstance) =>
  fetch(`${origin}/admin/v1/users/1`, { method: 'PUT', headers: { ...operator, ...json }, body: '{}' })

test('a change on one instance is seen on another, or what this has while its database is away', async (t) => {
  const database = await testDatabase()
  const one = await startInstance(t, database, slices)
  const gate = await proxy(t, database.serviceUrl)
  const two = await startInstance(t, { serviceUrl: gate.url }, slices)
  await defineUser(one)
  for (let i = 1; i <= 6; i += 1) {
    const [here, there] = i % 2 === 0 ? [one, two] : [two, one]
    await ask(there)
    const position = await define(here, `Rose ${i}`)
    t.equal(position, String(1 + i))
    t.same(await ask(there, position), { names: [`Rose ${i}`], position })
  }
  t.match(await ask(two, '900719925474099'), { position: '7' }, 'beyond the ledger')
  for (const malformed of ['-1', '1.5', 'x', '1e3', '9'.repeat(16)])
    t.match(await ask(two, malformed), { position: '7' })

  const first = await define(one, 'Rose')
  const known = { names: ['Rose'], position: first }
  t.same(await ask(two, first), known)
  await gate.down()
  t.same(await ask(two), known)
  const second = await define(one, 'Tulip')
  t.same(await ask(two, second), known)
  await gate.up()
  await until(async () => (await ask(two, second)).position === second)
  t.same(await ask(two), { names: ['Tulip'], position: second })
})
