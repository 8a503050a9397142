import { spawn } from 'node:child_process'
import { chownSync, readFileSync } from 'node:fs'

/** Runs PostgreSQL's programs as a user other than root. */
export interface Runner {
  /** Resolves to the program's output; throws an Error with it when the program fails. */
  run(program: string, args: readonly string[]): Promise<string>
  /** Gives a file or folder to the user that the programs run as. */
  own(path: string): void
}

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/**
 * PostgreSQL refuses to run as root, so root hands it to another user: to the owner of the cluster (`owner`) where
 * there is one, else to `postgres` or `nobody`. That user may be kept out of `dataDir` or of the folder of `postgres`
 * by a folder above, such as /root. No permissions are loosened for that; instead the programs get the one
 * capability that bypasses permissions (CAP_DAC_OVERRIDE), only if they need it. Root has that capability anyway.
 *
 * Throws when neither works, with what can be done.
 */
export async function chooseRunner(dataDir: string, postgres: string, owner: Account | null): Promise<Runner> {
  if (process.geteuid?.() !== 0) {
    return { run: (program, args) => run(program, args, {}), own: () => {} }
  }
  const account = owner ?? unprivilegedAccount()
  const { uid, gid } = account
  const own = (path: string): void => chownSync(path, uid, gid)
  const candidates: Runner[] = [
    { run: (program, args) => run(program, args, { uid, gid }), own },
    { run: (program, args) => run('setpriv', [...withCapability(account), program, ...args], {}), own },
  ]
  const reasons: string[] = []
  for (const candidate of candidates) {
    try {
      await candidate.run('/bin/sh', ['-c', 'cd "$1" && exec "$2" --version', 'sh', dataDir, postgres])
      return candidate
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new Error(
    `PostgreSQL does not run as root, and user ${account.name} cannot reach ${dataDir} or ${postgres}. ` +
      `Move them to where that user may enter, run this service as a normal user, or set DATABASE_URL.\n` +
      reasons.join('\n'),
  )
}

/**
 * no_setuid_fixup: initdb and pg_ctl look for postgres with access(2), which checks the real user's rights and by
 * default ignores the capabilities of every user but root.
 */
function withCapability({ uid, gid }: Account): string[] {
  return [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    '--securebits=+no_setuid_fixup',
    '--',
  ]
}

function unprivilegedAccount(): Account {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const wanted of ['postgres', 'nobody']) {
    const [name, , uid, gid] = lines.find((line) => line.startsWith(`${wanted}:`))?.split(':') ?? []
    if (name && Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody')
}

/** Not the service's own environment: it has keys, and PG… variables that would change what the programs do. */
const environment = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }

function run(program: string, args: readonly string[], as: { uid?: number; gid?: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    // Detached: a Ctrl-C at the terminal is for the service; it must not stop initdb or pg_ctl half way.
    const child = spawn(program, args, {
      ...as,
      cwd: '/',
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const collect = (chunk: Buffer): void => {
      output += chunk.toString()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', (error) => reject(new Error(`${program} cannot be started: ${error.message}`)))
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output)
      else reject(new Error(`${program} ended with ${signal ?? `code ${code}`}: ${output.trim()}`))
    })
  })
}
