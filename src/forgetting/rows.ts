import { type Kysely, sql } from 'kysely'
import type { Tables } from '../db/tables.ts'
import { eventColumns, parseEntry, readEvent } from '../ledger/recorded.ts'
import type { TextRow } from '../ledger/row-table.ts'
import type { Notifier } from '../push/notifier.ts'
import { withoutPerson } from './without-person.ts'

type Db = Kysely<Tables>

export interface Held {
  readonly withdrawal_ids: readonly number[]
  readonly devices: readonly string[]
}

/** What a user has that is in the way of being forgotten, or goes with them. */
export async function heldBy(db: Db, userId: number): Promise<Held> {
  const [open, owned] = await Promise.all([
    db
      .selectFrom('withdrawals')
      .select('withdrawal_id')
      .where('user_id', '=', userId)
      .where('status', 'in', ['pending', 'approved'])
      .orderBy('withdrawal_id')
      .execute(),
    db.selectFrom('devices').select('token').where('user_id', '=', userId).execute(),
  ])
  return { withdrawal_ids: open.map(({ withdrawal_id }) => withdrawal_id), devices: owned.map(({ token }) => token) }
}

/** Whether anything is left to be called by. */
export async function isNamed(db: Db, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('user_profiles')
    .select(['name', 'avatar'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row !== undefined && (row.name !== '' || row.avatar !== '')
}

/**
 * Blanks the person in replies that are remembered, also in those to others: they stay, so that nobody's retry does
 * anything twice. Answers how many.
 */
export async function blankReplies(db: Db, userId: number): Promise<number> {
  const { rows } = await sql<{ actor: string; idempotency_key: string; body: string }>`
    select actor, idempotency_key, body from replies where body like ${`%"id":${userId},%`}`.execute(db)
  let blanked = 0
  for (const { actor, idempotency_key, body } of rows) {
    const blank = withoutPerson(body, userId)
    if (blank === body) continue
    blanked += 1
    await sql`update replies set body = ${blank}, blanked = true
              where actor = ${actor} and idempotency_key = ${idempotency_key} and body = ${body}`.execute(db)
  }
  return blanked
}

/** Lets go of notifications that wait for the user, and writes those that tell others of the user anew. */
export async function blankNotifications(db: Db, userId: number, notifier: Notifier): Promise<void> {
  await sql`delete from push_outbox where user_id = ${userId}`.execute(db)
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e
    where e.position in (select position from push_outbox)`.execute(db)
  const events = rows.map((row) => readEvent(parseEntry(row)))
  for (const { position, user_id, notification } of await notifier(db, events)) {
    await sql`update push_outbox set notification = ${JSON.stringify(notification)}
              where position = ${position} and user_id = ${user_id}`.execute(db)
  }
}
