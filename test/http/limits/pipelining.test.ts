import { test } from 'tap'
import { Sessions } from '../../../src/http/auth/sessions.ts'
import { createMinimalApp, token } from '../../harness/app/minimal-app.ts'
import { exchange, listen, openSocket, parseResponses } from '../../harness/http/raw-http.ts'
import { until } from '../../harness/until.ts'

const asking = (sub: number): string =>
  `GET /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token({ sub: String(sub) })}\r\n\r\n`

test('pipelined requests run a few at a time and are answered in order', async (t) => {
  // Each user is looked up, and the test ends the lookups.
  const lookedUp: (() => void)[] = []
  const sessions = new Sessions((id) => new Promise((resolve) => lookedUp.push(() => resolve(id === 50 ? null : 0))))
  const { app } = await createMinimalApp(t, { sessions })
  let arrived = 0
  app.server.on('request', () => {
    arrived += 1
  })
  const port = await listen(app)
  const socket = openSocket(port)
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk.toString()
  })
  const users = Array.from({ length: 2_000 }, (_, i) => i + 1)
  socket.write(users.map(asking).join(''))
  await until(() => lookedUp.length >= 8)
  // Another connection has its own limit: its requests begin after whatever was read of the first one.
  const other = openSocket(port)
  other.write(asking(2_001))
  await until(() => lookedUp.length > 8)
  await exchange(port, 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.equal(lookedUp.length, 9, 'eight are running, and one of the other connection')
  t.ok(arrived < 700, `${arrived} of them were read`)

  let done = 0
  await until(() => {
    for (; done < lookedUp.length; done += 1) lookedUp[done]?.()
    return done === users.length + 1
  })
  await until(() => parseResponses(received).length === users.length)
  t.same(
    parseResponses(received).map(({ status }) => status),
    users.map((user) => (user === 50 ? 401 : 200)),
  )
  socket.destroy()
  other.destroy()
})
