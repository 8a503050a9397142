import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reservePort } from '../process/reserve-port.ts'
import type { Scope } from '../scope.ts'
import { until } from '../until.ts'

type PoolMode = 'session' | 'transaction' | 'statement'

/** Debian's; undefined where it is not installed. */
const program = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find((path) => existsSync(path))

/** False, or why tests with PgBouncer are skipped here. */
export const withoutPgBouncer = program === undefined && 'PgBouncer is not installed (apt-get install pgbouncer)'

/** Runs PgBouncer in front of a database until the test ends; returns the address through it. */
export async function startPgBouncer(t: Scope, url: string, poolMode: PoolMode): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(url)
  const folder = mkdtempSync(join(tmpdir(), 'economy-pgbouncer-'))
  const users = join(folder, 'users.txt')
  const settings = join(folder, 'pgbouncer.ini')
  const own = await reservePort()
  writeFileSync(users, `"${username}" "${password}"\n`, { mode: 0o600 })
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${poolMode}
default_pool_size = 60
`,
    { mode: 0o600 },
  )
  const account = unprivileged()
  if (account !== undefined) {
    for (const path of [folder, users, settings]) chownSync(path, account.uid, account.gid)
  }
  chmodSync(folder, 0o700)
  const child = spawn(program ?? 'pgbouncer', [settings], { ...account, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  child.stderr.on('data', (chunk) => (output += String(chunk)))
  t.teardown(async () => {
    await stop(child)
    rmSync(folder, { recursive: true })
  })
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer did not start: ${output}`)
    return accepts(own)
  })
  return `postgres://${username}@127.0.0.1:${own}${pathname}`
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** PgBouncer does not run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const [, , uid, gid] = (/^nobody:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0] ?? '').split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
