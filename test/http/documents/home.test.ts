import { test } from 'tap'
import { createMinimalApp } from '../../harness/app/minimal-app.ts'

test('the first page links to the pages that this instance answers', async (t) => {
  const { app } = await createMinimalApp(t)
  const page = await app.inject('/')
  t.match(page, { statusCode: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
  t.match(page.headers, {
    'content-security-policy': "default-src 'none'; script-src 'self'",
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, no-cache',
  })
  const linked = [...page.body.matchAll(/<a href="([^"]+)"/g)].map(([, path = '']) => path)
  const documents = ['/docs', '/docs/sockets', '/docs/fairness', '/docs/codes', '/docs/json', '/docs/asyncapi.json']
  t.same(linked, [...documents, '/fairness', '/healthz', '/readyz'])
  // The odds on /fairness need a database, which this app has not.
  for (const path of linked.filter((path) => path !== '/fairness'))
    t.equal((await app.inject(path)).statusCode, 200, path)
  t.notMatch(page.body, /<script|<style|style=|\son\w+=/)
  t.match(await app.inject({ method: 'HEAD', url: '/' }), { statusCode: 200, body: '' })
  const etag = String(page.headers.etag)
  t.equal((await app.inject({ url: '/', headers: { 'if-none-match': etag } })).statusCode, 304)
  t.equal((await app.inject('/?utm=1')).statusCode, 200)
})

test('without documents it does not link to them', async (t) => {
  const { app } = await createMinimalApp(t, { docs: false })
  t.notMatch((await app.inject('/')).body, '/docs')
})
