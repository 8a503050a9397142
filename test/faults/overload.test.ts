import { test } from 'tap'
import { createTestApp, type TestResponse } from '../harness/app/test-app.ts'
import { openClient } from '../harness/postgres/connections.ts'

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** Queries that routes require. */
const queries: Readonly<Record<string, string>> = {
  '/api/v1/users': '?search=amina',
  '/admin/v1/ledger/statement': '?account=user:1:coins',
  '/admin/v1/ledger/explain': '?user=1&currency=coins',
  '/admin/v1/ledger/trial-balance': '?as_of=1',
}
/** Path parameters that are not ids. */
const params: Readonly<Record<string, string>> = { month: '2026-11', hash: 'a'.repeat(64), client_type: 'android' }
/** Routes that are answered from memory. */
const fromMemory = new Set(['/healthz', '/readyz', '/metrics', '/api/v1/app-status'])

test('a read that gets no connection, or no answer in time, is overload on every route', async (t) => {
  const { database, app, operator, user } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }] })
  await operator('PUT', '/admin/v1/rooms/1', { owner_id: 1 })
  t.equal((await user(1)('GET', '/api/v1/wallet')).status, 200)

  const document: Document = (await app.inject('/docs/json')).json()
  const urls = Object.entries(document.paths)
    .filter(([path, methods]) => 'get' in methods && !fromMemory.has(path))
    .map(([path]) => `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '1')}${queries[path] ?? ''}`)
  t.ok(urls.length > 30, `${urls.length} routes that read`)

  const blocker = await openClient(t, database.ownerUrl)
  const { rows } = await blocker.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class where relnamespace = current_schema()::regnamespace and relkind = 'r'`,
  )
  await blocker.query(`begin; lock table ${rows.map(({ name }) => name).join(', ')} in access exclusive mode`)
  const sendAttempt = async (url: string): Promise<readonly [string, TestResponse]> => [
    url,
    await (url.startsWith('/admin') ? operator : user(1))('GET', url),
  ]
  for (const [url, { status, body, headers }] of await Promise.all(urls.map(sendAttempt))) {
    t.match({ status, body }, { status: 429, body: { code: 'overloaded' } }, url)
    t.match(headers['retry-after'], /^\d+$/, url)
  }
  const { body: metrics } = await app.inject('/metrics')
  t.equal(/http_refusals_total\{reason="overloaded"\} (\d+)/.exec(metrics)?.[1], String(urls.length))

  await blocker.query('rollback')
  t.equal((await user(1)('GET', '/api/v1/wallet')).status, 200)
})
