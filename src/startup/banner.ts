import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Config } from '../config/config.ts'
import type { JwtKey } from '../config/credentials.ts'
import type { SignInCodes } from '../console/session/sign-in.ts'
import type { Tables } from '../db/tables.ts'
import { signToken, type TokenRules, tokenRulesOf } from '../http/auth/tokens.ts'
import type { PublicAddress } from '../http/origins.ts'

/** Prints the service's addresses and, in development, tokens and links to try it with; in one write. */
export async function printBanner(
  app: FastifyInstance,
  db: Kysely<Tables>,
  { config, address: { url }, key, signInCodes }: BannerParts,
): Promise<void> {
  const addresses = [
    `API            ${url}/api/v1`,
    ...(config.docs ? [`Documentation  ${url}/docs`] : []),
    `Console        ${url}/console`,
  ]
  const isDevelopment = !config.production && key.kind === 'secret'
  const tokens = isDevelopment ? await developmentTokens(app, db, tokenRulesOf(config)) : []
  const links = isDevelopment && signInCodes !== null ? signInLinks(app, url, signInCodes, tokenRulesOf(config)) : []
  console.log([...addresses, ...links, ...tokens].join('\n'))
}

interface BannerParts {
  readonly config: Config
  readonly address: PublicAddress
  readonly key: JwtKey
  /** For links that sign in to the console; null: there are none. */
  readonly signInCodes: SignInCodes | null
}

const TOKEN_SECONDS = 12 * 3_600

const secondsOf = ({ maxTtlSeconds }: TokenRules): number => Math.min(TOKEN_SECONDS, maxTtlSeconds ?? TOKEN_SECONDS)

/** A link for each role, whose page signs in with a click. */
function signInLinks(app: FastifyInstance, url: string, codes: SignInCodes, rules: TokenRules): string[] {
  return [
    'Links that sign in to the console once, within 10 minutes',
    ...(['operator', 'finance'] as const).map((role) => {
      const code = codes.create(signToken(app, role, role, `${secondsOf(rules)}s`, rules), role)
      return `  as ${role.padEnd(9)} ${url}/console/sign-in?code=${code}`
    }),
  ]
}

async function developmentTokens(app: FastifyInstance, db: Kysely<Tables>, rules: TokenRules): Promise<string[]> {
  const seconds = secondsOf(rules)
  const users = await db.selectFrom('users').select('user_id').orderBy('user_id').limit(2).execute()
  const holders = [
    ...users.map(({ user_id }) => ({ name: `user ${user_id}`, sub: String(user_id), role: null })),
    { name: 'operator', sub: 'operator', role: 'operator' as const },
    { name: 'finance', sub: 'finance', role: 'finance' as const },
  ]
  return [
    `Tokens for ${seconds === TOKEN_SECONDS ? '12 hours' : `${seconds} seconds`}; others: npm run token -- --help`,
    ...holders.map(({ name, sub, role }) => `  ${name.padEnd(12)} ${signToken(app, sub, role, `${seconds}s`, rules)}`),
  ]
}
