import { DatabaseError } from 'pg'
import { test } from 'tap'
import { Silence } from '../../src/db/cluster/cluster-session.ts'

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
const timeout = new Error('timeout expired')
const said = (code: string, message: string): Error => Object.assign(new DatabaseError(message, 0, 'error'), { code })
const starting = said('57P03', 'the database system is starting up')
const recovering = said('57P03', 'the database system is in recovery mode')
const shuttingDown = said('57P03', 'the database system is shutting down')
const full = said('53300', 'sorry, too many clients already')

test('a PostgreSQL that is alive is ended when it has answered nobody for a minute', async (t) => {
  let now = 0
  let running: { pid: number; port: number } | null = { pid: 7, port: 1 }
  let ended = 0
  const lines: unknown[] = []
  const log = { warn: (details: object, message: string) => void lines.push({ ...details, message }) }
  const cluster = { log: '/data/postgres.log', running: () => running, kill: () => void (ended += 1) }
  const silence = new Silence(cluster, log, () => now)
  /** Fails from now on, every second for so long. Answers how often it was ended. */
  const failFor = (seconds: number, error: Error): number => {
    const before = ended
    for (let i = 0; i <= seconds; i += 1) {
      silence.failed(error)
      now += 1_000
    }
    return ended - before
  }
  t.equal(failFor(59, timeout), 0)
  silence.answered()
  t.equal(failFor(59, refused), 0, 'an answer begins the minute again')
  for (const answer of [starting, recovering, full]) {
    t.equal(failFor(300, answer), 0, answer.message)
    t.equal(failFor(59, timeout), 0, 'that too was an answer')
  }
  silence.answered()
  t.equal(lines.length, 0)
  t.equal(failFor(60, shuttingDown), 1, 'a shutdown that hangs')
  t.match(lines, [{ pid: 7, log: '/data/postgres.log', err: shuttingDown, message: /answered nobody for a minute/ }])
  t.equal(failFor(120, timeout), 1, 'the next one has a minute of its own')
  running = null
  t.equal(failFor(300, refused), 0, 'one that is not alive is started, not ended')
})
