import { type Kysely, sql } from 'kysely'
import { headOf } from '../db/head.ts'
import type { Tables } from '../db/tables.ts'
import { account, balances } from '../ledger/account.ts'
import type { Key } from '../ledger/decider.ts'
import type { Executor } from '../ledger/executor.ts'
import { lookAhead } from '../ledger/look-ahead.ts'
import { keyOf } from '../ledger/state.ts'
import { users } from '../people/user.ts'
import { rooms } from '../rooms/room.ts'
import { runAsSystem } from './system.ts'

/** Whoever was at it before is likely to be at it again: so many of the last events are looked through. */
const EVENTS = 20_000
/** With three rows each these are not a half of what the store keeps, of which more makes it forget. */
const MOST = 15_000

/** Rows in one go, for which whoever comes then waits some milliseconds. */
const PAGE = 500

/**
 * Has the rows looked up that the first commands are likely to ask for: when an instance starts it knows none, and each
 * command would be held up by a look-up of its own.
 */
export async function lookAheadWith(executor: Executor, db: Kysely<Tables>): Promise<void> {
  const keys = await rowsAhead(db)
  for (let i = 0; i < keys.length; i += PAGE) {
    await runAsSystem(executor, lookAhead, keys.slice(i, i + PAGE))
    // Beside another instance that writes nothing is kept, and each page would only hold that one up.
    if (!executor.ahead) return
  }
}

/** The rows that gifts between the users and in the rooms of the last events will ask for, the newest first. */
export async function rowsAhead(db: Kysely<Tables>): Promise<readonly Key[]> {
  const after = (await headOf(db)) - EVENTS
  const { rows } = await sql<{ kind: string; id: number }>`
    select split_part(m.account, ':', 1) as kind, split_part(m.account, ':', 2)::bigint as id
    from ledger_events e, unnest(e.debit || e.credit) as m (account)
    where e.position > ${after}::bigint and m.account ~ '^(user|room):[0-9]{1,15}:'
    group by 1, 2 order by max(e.position) desc, 1, 2 limit ${MOST}`.execute(db)
  return rows.flatMap(({ kind, id }) => (kind === 'user' ? ofUser(id) : ofRoom(id)))
}

const ofUser = (id: number): readonly Key[] => [
  keyOf(users, id),
  keyOf(balances, account('user', id, 'diamonds')),
  keyOf(balances, account('user', id, 'target')),
]

const ofRoom = (id: number): readonly Key[] => [keyOf(rooms, id), keyOf(balances, account('room', id, 'target'))]
