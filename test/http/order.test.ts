import * as fc from 'fast-check'
import { test } from 'tap'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { createTestApp } from '../harness/app/test-app.ts'
import { fetchRoutes, isRead, pathOf, type Route } from '../harness/http/api-routes.ts'
import { valueOf } from '../harness/http/schema-values.ts'

const methods = ['GET', 'PUT', 'POST', 'DELETE'] as const

/** Paths with a parameter that cannot be an id; a uid may be a number that is too large, or 0. */
function impossiblePaths(route: Route, other: boolean): string[] {
  const good = Object.fromEntries(Object.keys(route.params).map((name) => [name, '1']))
  return Object.entries(route.params).flatMap(([name, { pattern }]) =>
    impossible(name, pattern).map((id) => pathOf(route, { ...good, [name]: id }, other)),
  )
}

/** A member of staff may be called anything printable. */
const impossible = (name: string, pattern: string | undefined): string[] =>
  name === 'sub' ? ['%0A'] : ['%20', ...(pattern === undefined ? ['0', '9007199254740993'] : [])]

test('on every route body, query and key are validated before an impossible path is answered with 404', async (t) => {
  const { app, ledger, operator, user } = await createTestApp(t)
  await ledger.runOk(defineUsers, { users: [{ id: 1 }], listed: false })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const routes = (await fetchRoutes(origin)).filter(({ params }) => Object.keys(params).length > 0)
  t.ok(routes.length > 20, `${routes.length} routes`)

  const offenders: string[] = []
  for (const [i, route] of routes.entries()) {
    const { kind, body, query } = route
    const method = methods.find((one) => one === route.method)
    if (method === undefined) throw new Error(`no request is made with ${route.method}`)
    const ask = async (path: string, sent: unknown, headers = {}): Promise<number> => {
      const asking = kind === 'admin' ? operator : user(1)
      return (await asking(method, path, sent, headers)).status
    }
    // The same values each time. Some have errors that only the business rules find.
    const bodies = body === null ? [undefined] : fc.sample(valueOf(body), { numRuns: 20, seed: 1 })
    for (const path of impossiblePaths(route, i % 2 === 0)) {
      const expect = (expected: readonly number[], status: number, what: string): void => {
        if (!expected.includes(status)) offenders.push(`${method} ${path} with ${what}: ${status}`)
      }
      if (body !== null) expect([422], await ask(path, []), 'another body')
      if ('limit' in query) expect([422], await ask(`${path}?limit=x`, undefined), 'another query')
      if (!isRead(route)) expect([422], await ask(path, bodies[0], { 'idempotency-key': '\x7f' }), 'another key')
      let status = 0
      for (let tried = 0; tried < bodies.length && status !== 404; tried += 1) {
        status = await ask(path, bodies[tried])
        expect([404, 422], status, 'values of its schema')
      }
      expect([404], status, 'the last of 20 values')
    }
  }
  t.strictSame(offenders, [])
})
