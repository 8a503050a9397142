import type { FastifyInstance } from 'fastify'
import type { Kysely } from 'kysely'
import type { Config } from '../config/config.ts'
import type { JwtKey } from '../config/jwt-key.ts'
import type { Tables } from '../db/tables.ts'
import type { PublicAddress } from '../http/auth/public-address.ts'
import { signToken, type TokenRules, tokenRulesOf } from '../http/auth/tokens.ts'

/** Prints the service's addresses and, in development, tokens to try it with; in one write. */
export async function printBanner(
  app: FastifyInstance,
  db: Kysely<Tables>,
  config: Config,
  { url }: PublicAddress,
  key: JwtKey,
): Promise<void> {
  const addresses = [`API            ${url}/api/v1`, ...(config.docs ? [`Documentation  ${url}/docs`] : [])]
  const tokens =
    config.production || key.kind !== 'secret' ? [] : await developmentTokens(app, db, tokenRulesOf(config))
  console.log([...addresses, ...tokens].join('\n'))
}

const TOKEN_SECONDS = 12 * 3_600

async function developmentTokens(app: FastifyInstance, db: Kysely<Tables>, rules: TokenRules): Promise<string[]> {
  const seconds = Math.min(TOKEN_SECONDS, rules.maxTtlSeconds ?? TOKEN_SECONDS)
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
