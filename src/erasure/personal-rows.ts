import { type Kysely, sql } from 'kysely'
import type { Tables } from '../db/tables.ts'
import { isErased } from '../features/users/user.ts'
import { userKey } from '../http/auth/gate.ts'
import { parseExact } from '../http/execute-command.ts'
import { replyHash } from '../ledger/storage/event-hash.ts'
import type { TextRow } from '../ledger/storage/row-table.ts'
import { eventColumns, parseEntry, parseStoredEvent } from '../ledger/storage/stored-event.ts'
import type { Notifier } from '../notifications/notifier.ts'

type Db = Kysely<Tables>

interface UserData {
  readonly withdrawal_ids: readonly number[]
  readonly devices: readonly string[]
}

/** The user's open withdrawals, which prevent erasure, and devices, which are erased. */
export async function findUserData(db: Db, userId: number): Promise<UserData> {
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

/** Whether the profile still identifies the user. */
export async function isIdentifiable(db: Db, userId: number): Promise<boolean> {
  const row = await db
    .selectFrom('user_profiles')
    .select(['name', 'avatar', 'uid'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
  return row !== undefined && !isErased(row)
}

/** A stored reply that names a user, and its redacted body. */
interface ReplyNamingUser {
  /** See `replyKey`. */
  readonly key: string
  readonly body: string
  readonly redacted: string
  /** The hash of the redacted reply. */
  readonly reply_hash: string
}

/** Stored replies to anyone that name a user, whose profile must be erased by now. */
export async function findRepliesNaming(db: Db, userId: number): Promise<ReplyNamingUser[]> {
  const { rows } = await sql<{ key: string; status: number; body: string }>`
    select encode(uuid_send(key), 'hex') as key, status, body from replies
    where body like '%"avatar"%' and persons_in_reply(body) @> array[${userId}::bigint]`.execute(db)
  const profile = await db.selectFrom('user_profiles').select('uid').where('user_id', '=', userId).executeTakeFirst()
  return rows.flatMap(({ status, ...reply }) => {
    const redacted = redactPerson(reply.body, userId, profile?.uid ?? '')
    return redacted === reply.body ? [] : [{ ...reply, redacted, reply_hash: replyHash(status, redacted) }]
  })
}

/**
 * Replaces replies by their redacted bodies. They are not deleted, so that retries still find them. A reply that was
 * changed in the meantime is skipped. Returns the number of replaced replies.
 */
export async function redactReplies(db: Db, replies: readonly ReplyNamingUser[]): Promise<number> {
  let written = 0
  for (const { key, body, redacted } of replies) {
    const { numAffectedRows = 0n } = await sql`
      update replies set body = ${redacted} where key = ${key} and body = ${body}`.execute(db)
    written += Number(numAffectedRows)
  }
  return written
}

/** Deletes the client type and version that are stored for the user; those of a token are under a hash of that token. */
export const deleteStoredClient = async (db: Db, userId: number): Promise<void> => {
  await sql`delete from told_clients where token_key = ${userKey(userId)}`.execute(db)
}

/** Deletes pending notifications to the user and when they read any, and rewrites those to others that name the user. */
export async function redactNotifications(db: Db, userId: number, notifier: Notifier): Promise<void> {
  await sql`delete from push_outbox where user_id = ${userId}`.execute(db)
  await sql`delete from notification_reads where user_id = ${userId}`.execute(db)
  const { rows } = await sql<TextRow>`
    select ${sql.raw(eventColumns)} from ledger_events e
    where e.position in (select position from push_outbox)`.execute(db)
  const events = rows.map((row) => parseStoredEvent(parseEntry(row)))
  for (const { position, user_id, notification } of await notifier(db, events)) {
    // In the language of the device, as they were stored.
    await sql`
      update push_outbox o set notification = case
        when exists (select from devices d where d.token = o.token and d.language = 'ar')
        then ${JSON.stringify(notification.ar)}::text else ${JSON.stringify(notification.en)}::text end
      where o.position = ${position} and o.user_id = ${user_id}`.execute(db)
  }
}

/**
 * Redacts a person in the text of a JSON response: name, avatar and its address become empty, and the uid the one they
 * have now. Everything else is preserved exactly, numbers included. Returns the same text when the person does not appear
 * in it.
 */
export function redactPerson(text: string, id: number, uid: string): string {
  let isNamed = false
  const redact = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(redact)
    if (typeof value !== 'object' || value === null || 'rawJSON' in value) return value
    const fields = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redact(inner)]))
    if (!isPerson(fields) || digitsOf(fields['id']) !== String(id)) return fields
    if (fields['name'] === '' && fields['avatar'] === '' && fields['uid'] === uid) return fields
    isNamed = true
    return { ...fields, name: '', avatar: '', ...('avatar_url' in fields && { avatar_url: '' }), uid }
  }
  const after = JSON.stringify(redact(parseExact(text)))
  return isNamed ? after : text
}

/** Persons, and nothing else in responses, have all of these fields. */
const isPerson = (fields: Readonly<Record<string, unknown>>): boolean =>
  ['id', 'name', 'avatar', 'uid'].every((name) => name in fields)

/** The digits of a number as `parseExact` reads it. */
const digitsOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'rawJSON' in value ? value.rawJSON : undefined
