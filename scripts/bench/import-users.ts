import { randomInt } from 'node:crypto'
import { Agent, request } from 'node:http'

// Announces users to a running service in several ways and prints how long each took. It takes ids that are new on every
// run, and a service with RATE_LIMIT=off: node scripts/bench/import-users.ts ORIGIN TOKEN

const [origin = '', token = ''] = process.argv.slice(2)
const CONNECTIONS = 64
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })

function send(method: 'POST' | 'PUT', path: string, fields: object): Promise<void> {
  const body = JSON.stringify(fields)
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, origin), { method, agent, headers }, (response) => {
      response.resume()
      const status = response.statusCode ?? 0
      response.on('end', () =>
        status < 300 ? resolve() : reject(new Error(`${method} ${path} was answered ${status}`)),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const fieldsOf = (id: number) => ({ uid: `u${id}`, name: `User ${id}`, avatar: `avatars/${id}.png` })
const range = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i)

interface Way {
  readonly users: number
  /** Users of a request; 1: `PUT`. */
  readonly size: number
  readonly connections: number
}

const ways: readonly Way[] = [
  { users: 10_000, size: 1_000, connections: 1 },
  { users: 10_000, size: 1_000, connections: 4 },
  { users: 10_000, size: 1, connections: CONNECTIONS },
  { users: 10_000, size: 1, connections: 16 },
  { users: 1_000, size: 1, connections: 1 },
]

let next = randomInt(1e9, 1e12)
for (const { users, size, connections } of ways) {
  const firsts = range(0, users / size).map((i) => next + i * size)
  next += users
  const announce = (first: number): Promise<void> =>
    size === 1
      ? send('PUT', `/admin/v1/users/${first}`, fieldsOf(first))
      : send('POST', '/admin/v1/users', { users: range(first, size).map((id) => ({ id, ...fieldsOf(id) })) })
  const startedAt = performance.now()
  const queue = firsts.values()
  const work = async (): Promise<void> => {
    for (const first of queue) await announce(first)
  }
  await Promise.all(range(0, connections).map(work))
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  console.log(`${users} users, ${size} a request, ${connections} connections: ${seconds} s`)
}
agent.destroy()
