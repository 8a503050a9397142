import { Value } from '@sinclair/typebox/value'
import type { Pool } from 'pg'
import { Notification } from '../../schema/notifications.ts'
import type { AddressedNotification } from './notifier.ts'

/** A user's devices that get notifications: those registered last. */
const MAX_DEVICES_PER_USER = 10
/** Further notifications for a device are dropped; FCM would not keep more either. */
const MAX_QUEUED_PER_DEVICE = 100
/** An instance that has not finished a row by then is taken for dead. Longer than two HTTP requests take. */
const LEASE_MS = 12_000
/** Older notifications are dropped, as FCM does. */
const MAX_AGE = '28 days'

/** A row that only this instance may send until its lease expires. */
export interface LeasedDelivery extends Omit<Delivery, 'notification'> {
  /** Null when the stored text is malformed. */
  readonly notification: Notification | null
  readonly user_id: number
  /** How often it was leased, this time included. */
  readonly attempts: number
  /** When the device was registered; null when it is no longer the user's. */
  readonly registered_at: string | null
  /** Whether it is too old to be sent. */
  readonly is_stale: boolean
}

/** Notifications that are not sent yet, one row for each device, shared by all instances. */
export class Outbox {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Adds a row for each current device of the users, in the device's language. Adding a notification twice changes nothing. */
  async add(addressed: readonly AddressedNotification[]): Promise<void> {
    if (addressed.length === 0) return
    await this.#pool.query({
      name: 'add to outbox',
      text: `insert into push_outbox (token, position, user_id, notification)
             select d.token, n.position, n.user_id, case d.language when 'ar' then n.arabic else n.english end
             from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) as n (position, user_id, english, arabic)
             cross join lateral (
               select token, language from devices where user_id = n.user_id
               order by registered_at desc limit ${MAX_DEVICES_PER_USER}
             ) d
             where (select count(*) from push_outbox w where w.token = d.token) < ${MAX_QUEUED_PER_DEVICE}
             on conflict do nothing`,
      values: [
        addressed.map(({ position }) => position),
        addressed.map(({ user_id }) => user_id),
        addressed.map(({ notification }) => JSON.stringify(notification.en)),
        addressed.map(({ notification }) => JSON.stringify(notification.ar)),
      ],
    })
  }

  /** Leases due rows, longest due first: no other instance gets them until the lease expires. */
  async lease(limit: number): Promise<LeasedDelivery[]> {
    const { rows } = await this.#pool.query<Omit<LeasedDelivery, 'notification'> & { readonly notification: string }>({
      name: 'lease from outbox',
      // Citus allows now() in an update but not in its returning clause, so that the age is found before.
      text: `with due as (
               select w.token, w.position, d.registered_at, w.made_at < (select at from passed_time) - interval '${MAX_AGE}' as is_stale
               from push_outbox w left join devices d on d.token = w.token and d.user_id = w.user_id
               where w.next_attempt <= now()
               order by w.next_attempt limit $1 for update of w skip locked
             )
             update push_outbox o
             set attempts = o.attempts + 1, next_attempt = now() + ${LEASE_MS} * interval '1 millisecond'
             from due where o.token = due.token and o.position = due.position
             returning o.token, o.position, o.user_id, o.notification, o.attempts, due.registered_at, due.is_stale`,
      values: [limit],
    })
    return rows.map((row) => ({ ...row, notification: readNotification(row.notification) }))
  }

  /** Removes a row that was sent or need not be. */
  async remove({ token, position }: LeasedDelivery): Promise<void> {
    await this.#pool.query({
      name: 'remove from outbox',
      text: 'delete from push_outbox where token = $1 and position = $2',
      values: [token, position],
    })
  }

  /** Makes a row due again later. Does nothing when the lease expired and another instance has the row. */
  async reschedule({ token, position, attempts }: LeasedDelivery, ms: number): Promise<void> {
    await this.#pool.query({
      name: 'reschedule in outbox',
      text: `update push_outbox set next_attempt = now() + $4 * interval '1 millisecond'
             where token = $1 and position = $2 and attempts = $3`,
      values: [token, position, attempts, ms],
    })
  }

  /** Drops the device of an unregistered token, unless it was registered again since the row was leased. */
  async dropDevice(row: LeasedDelivery): Promise<void> {
    await this.#pool.query({
      name: 'drop device',
      text: 'delete from devices where token = $1 and user_id = $2 and registered_at = $3::timestamptz',
      values: [row.token, row.user_id, row.registered_at],
    })
    await this.remove(row)
  }
}

function readNotification(text: string): Notification | null {
  try {
    return Value.Parse(Notification, JSON.parse(text))
  } catch {
    return null
  }
}

/** A notification for one device. */
export interface Delivery {
  /** The device's push token: personal data, used to address the message and for nothing else. */
  readonly token: string
  /** The position of its ledger event, the same on every attempt. */
  readonly position: number
  readonly notification: Notification
}

export type Outcome =
  | { readonly kind: 'delivered' }
  /** The token is no longer registered. */
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'later'
      /** For the log; quotes nothing of the request. */
      readonly why: string
      /** Whether only this device is affected. */
      readonly isDeviceOnly: boolean
      /** The delay that the server requested; 0 without one. */
      readonly afterMs: number
    }

/** Attempts to send a notification once. Never rejects. */
export type Send = (delivery: Delivery) => Promise<Outcome>
