import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { fastify } from 'fastify'
import { type Config, loadConfig, secondsIn } from '../src/config/config.ts'
import type { Variables } from '../src/config/environment.ts'
import { readSecret } from '../src/config/files.ts'
import { keyFile } from '../src/config/keys.ts'
import { connect } from '../src/db/connect.ts'
import { ledgerUrl } from '../src/db/ledger-url.ts'
import { plainStaffName, type StaffRole } from '../src/http/auth/caller.ts'
import { registerTokens, signToken, tokenRulesOf } from '../src/http/auth/tokens.ts'
import { parseId } from '../src/ledger/rules/account.ts'

type Terminal = Pick<Console, 'log' | 'error'>

interface Options {
  readonly user: string
  readonly role?: StaffRole
  readonly ttl: string
}

/** The secret with which the service verifies tokens. Throws when there is none. */
function signingSecret({ jwt, dataDir, ledgerSchema }: Config): string {
  if (jwt?.kind === 'public') {
    throw new Error('JWT_PUBLIC_KEY can only verify tokens; they have to be signed with its private key.')
  }
  const secret = jwt?.secret ?? readSecret(dataDir, keyFile('jwt', ledgerSchema))
  if (secret !== null) return secret
  // A secret generated here would be unknown to the service.
  throw new Error(
    `There is no ${keyFile('jwt', ledgerSchema)} in ${dataDir}: start the service once (npm start), or set DATA_DIR, LEDGER_SCHEMA or JWT_SECRET.`,
  )
}

async function printToken({ user, role, ttl }: Options, environment: Variables, terminal: Terminal): Promise<void> {
  if (role === undefined && parseId(user) === null) throw new Error('--user must be the id of a user, 1 or more.')
  if (role !== undefined && plainStaffName(user) === null)
    throw new Error('--user must be a name of 1 to 100 characters, and not . or ..')
  const config = loadConfig(environment)
  const max = config.jwtMaxTtlSeconds
  if (max !== null && secondsIn(ttl) > max) {
    throw new Error(`--ttl must not be longer than JWT_MAX_TTL (${max} s): the service would not accept the token.`)
  }
  const app = fastify()
  await registerTokens(app, { kind: 'secret', secret: signingSecret(config) })
  terminal.log(signToken(app, user, role ?? null, ttl, tokenRulesOf(config)))
  if (role === undefined && (await isUnknownUser(Number(user), config))) {
    terminal.error(`Warning: user ${user} is not known; the service answers 401 until an operator announces the user.`)
  }
}

/** Whether the database has no such user; false when it cannot be reached. */
async function isUnknownUser(userId: number, { databaseUrl, ledgerSchema, dataDir }: Config): Promise<boolean> {
  try {
    const url = databaseUrl ?? readFileSync(join(dataDir, 'database-url'), 'utf8').trim()
    const client = await connect(ledgerUrl(url, ledgerSchema), 'token')
    try {
      return (await client.query('select from users where user_id = $1', [userId])).rowCount === 0
    } finally {
      await client.end()
    }
  } catch {
    // Tokens can be made without a database.
    return false
  }
}

const parseDuration = (text: string): string => {
  if (!/^[1-9]\d{0,5}[smhd]$/.test(text))
    throw new InvalidArgumentError('Expected a number with s, m, h or d, such as 12h.')
  return text
}

/** Runs the command line; returns its exit code. */
export async function runToken(args: readonly string[], environment: Variables, terminal: Terminal): Promise<number> {
  try {
    await new Command('npm run token --')
      .description('Prints a token for development, signed with JWT_SECRET or the secret in DATA_DIR')
      .requiredOption('--user <id>', 'id of an app user; with --role, name of a member of staff')
      .addOption(new Option('--role <role>', 'for /admin/v1').choices(['operator', 'finance']))
      .option('--ttl <duration>', 'time until it expires', parseDuration, '12h')
      .action((options: Options) => printToken(options, environment, terminal))
      .configureOutput({
        writeOut: (text) => terminal.log(text.trimEnd()),
        writeErr: (text) => terminal.error(text.trimEnd()),
      })
      .exitOverride()
      .parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // It has been printed.
    if (error instanceof CommanderError) return error.exitCode
    terminal.error(error instanceof Error ? error.message : String(error))
    return 1
  }
}

if (import.meta.main) process.exitCode = await runToken(process.argv.slice(2), process.env, console)
