import { Type } from '@sinclair/typebox'
import type { Kysely } from 'kysely'
import { Text } from '../../../schema/common.ts'
import { chartOfAccounts } from '../../audit/reports/chart-of-accounts.ts'
import { type Period, resolveAsOf } from '../../audit/reports/period.ts'
import { orValidationFailed, parseAsOfParam } from '../../audit/routes/requests.ts'
import { isAnyOf } from '../../db/queries/expressions.ts'
import type { Tables } from '../../db/tables.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { parseId } from '../../ledger/rules/account.ts'
import { type PeriodQuery, periodFilters, readBounds } from '../lists/period.ts'
import { readUserNames } from '../users/find-user.ts'

export const accountFilters = Type.Object({ ...periodFilters, as_of: Type.Optional(Text(40)) })

export interface AccountPeriod extends Period {
  /** The position that balance and holds are shown as of: that of `as_of`, and else the end of the period. */
  readonly asOf: number
}

/** What an account's page shows: the movements of a period, which ends where the page is shown as of. */
export async function resolveAccountPeriod(
  db: Kysely<Tables>,
  { as_of, ...texts }: PeriodQuery & { readonly as_of?: string },
  at: number,
): Promise<AccountPeriod> {
  const asOf = parseAsOfParam('as_of', as_of || undefined)
  const end = asOf === null ? at : (await orValidationFailed(resolveAsOf(db, asOf, at, 'as_of'))).last
  const period = await readBounds(db, texts, end)
  return { first: period.first, last: period.last, asOf: asOf === null ? period.last : end }
}

/** Throws a 404 for an account that never had a movement, and whose holder does not exist. */
export async function requireAccount(db: Kysely<Tables>, account: string): Promise<void> {
  const moved = await db.selectFrom('balances').select('account').where('account', '=', account).executeTakeFirst()
  if (moved === undefined && !(await hasHolder(db, account))) throw notFound()
}

async function hasHolder(db: Kysely<Tables>, account: string): Promise<boolean> {
  const [kind = '', name = ''] = account.split(':')
  if (chartOfAccounts.some((one) => one.account === `${kind}:${name}`)) return true
  const id = parseId(name)
  if (id === null) return false
  const found = await holderById(db, kind, id)
  return found !== undefined
}

function holderById(db: Kysely<Tables>, kind: string, id: number): Promise<object | undefined> {
  switch (kind) {
    case 'user':
    case 'debt':
    case 'settled':
      return db.selectFrom('user_profiles').select('user_id').where('user_id', '=', id).executeTakeFirst()
    case 'room':
      return db.selectFrom('room_profiles').select('room_id').where('room_id', '=', id).executeTakeFirst()
    case 'game':
      return db.selectFrom('roulette_games').select('game_id').where('game_id', '=', id).executeTakeFirst()
    case 'withdrawal':
      return db.selectFrom('withdrawals').select('withdrawal_id').where('withdrawal_id', '=', id).executeTakeFirst()
    default:
      return Promise.resolve(undefined)
  }
}

/** The names of the users and rooms whose accounts these are, by account. */
export async function readHolderNames(
  db: Kysely<Tables>,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const users = await namesByAccount(accounts, ['user', 'debt', 'settled'], (ids) => readUserNames(db, ids))
  const rooms = await namesByAccount(accounts, ['room'], async (ids) => {
    const rows = await db
      .selectFrom('room_profiles')
      .select(['room_id', 'name'])
      .where(isAnyOf('room_id', ids))
      .execute()
    return new Map(rows.map(({ room_id, name }) => [room_id, name]))
  })
  return new Map([...users, ...rooms])
}

async function namesByAccount(
  accounts: readonly string[],
  kinds: readonly string[],
  read: (ids: readonly number[]) => Promise<ReadonlyMap<number, string>>,
): Promise<readonly (readonly [string, string])[]> {
  const idOf = new Map(
    accounts.flatMap((account) => {
      const [kind = '', id] = account.split(':')
      return kinds.includes(kind) ? [[account, Number(id)] as const] : []
    }),
  )
  if (idOf.size === 0) return []
  const names = await read([...new Set(idOf.values())])
  return [...idOf].flatMap(([account, id]) => {
    const name = names.get(id)
    return name === undefined ? [] : [[account, name] as const]
  })
}
