import { readFile } from 'node:fs/promises'
import { test } from 'tap'
import { onlyInFullRun } from '../harness/long-tests.ts'
import { openClient } from '../harness/postgres/connections.ts'
import { testDatabase } from '../harness/postgres/test-database.ts'
import { startService } from '../harness/process/service.ts'
import { until } from '../harness/until.ts'

const PATH = '/proc/net/tcp'
/** The timer of a socket that waits for its next keepalive, in that file. */
const KEEPALIVE = '02'
/** In hundredths of a second. */
const MAX_KEEPALIVE_WAIT = 500

test('PostgreSQL looks within 5 seconds whether the host of a session is still there, for all of an instance', {
  skip: process.platform !== 'linux' || onlyInFullRun,
}, async (t) => {
  const { serviceUrl } = await testDatabase()
  const service = await startService(t, { DATABASE_URL: serviceUrl })
  await until(async () => (await fetch(`${service.origin}/readyz`)).status === 200)
  const client = await openClient(t, serviceUrl)
  const { port } = new URL(serviceUrl)

  /** The names of all sessions, and of those for which no keepalive is due soon. */
  const sessions = async (): Promise<{ readonly names: ReadonlySet<string>; readonly late: readonly string[] }> => {
    const { rows } = await client.query<{ name: string; port: number }>(
      `select application_name as name, client_port as port from pg_stat_activity
       where datname = current_database() and client_port > 0 and pid <> pg_backend_pid()`,
    )
    const dueSoon = portsWithKeepalive(await readFile(PATH, 'utf8'), Number(port))
    return {
      names: new Set(rows.map(({ name }) => name)),
      late: rows.filter((row) => !dueSoon.has(row.port)).map(({ name }) => name),
    }
  }
  // A socket that has just sent something waits for its acknowledgement first.
  await until(async () => (await sessions()).late.length === 0)
  const { names } = await sessions()
  for (const name of ['economy reads', 'economy followers', 'economy readiness', 'ledger tail', 'ledger election']) {
    t.ok(names.has(name), name)
  }
  // In milliseconds; the kernel shows it nowhere.
  t.match((await client.query('show tcp_user_timeout')).rows, [{ tcp_user_timeout: '11000' }])
})

/** The clients' ports of this server's sockets whose next keepalive is due soon. */
function portsWithKeepalive(table: string, serverPort: number): ReadonlySet<number> {
  const portOf = (address = ''): number => Number.parseInt(address.split(':')[1] ?? '', 16)
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/))
  return new Set(
    rows.flatMap(([, local, remote, , , timer = '']) => {
      const [kind, wait = ''] = timer.split(':')
      const isSoon = kind === KEEPALIVE && Number.parseInt(wait, 16) <= MAX_KEEPALIVE_WAIT
      return isSoon && portOf(local) === serverPort ? [portOf(remote)] : []
    }),
  )
}
