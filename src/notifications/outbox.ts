import { Value } from '@sinclair/typebox/value'
import type { Pool } from 'pg'
import { Notification } from '../../schema/notifications.ts'
import type { AddressedNotification } from './notifier.ts'
import type { Delivery } from './sender.ts'

/** The devices of a user that are told something: those registered last. */
const MAX_DEVICES_PER_USER = 10
/** Notifications that wait for one device; what comes on top is not kept, nor would FCM keep more than these. */
const MAX_QUEUED_PER_DEVICE = 100
/** Whoever claimed a row and has not been heard of for so long is taken for dead: longer than two posts take. */
const LEASE_MS = 12_000
/** What could not be sent for so long is of no interest any more, to FCM either. */
const MAX_AGE = '28 days'

/** A row that is this instance's to send, for the time of a lease. */
export interface LeasedDelivery extends Omit<Delivery, 'notification'> {
  /** Null when what is stored cannot be read. */
  readonly notification: Notification | null
  readonly user_id: number
  /** How often it was claimed, this time included. */
  readonly attempts: number
  /** When the device was registered; null when it is no longer this user's. */
  readonly registered_at: string | null
  /** Whether it has been waiting for too long. */
  readonly stale: boolean
}

/** Notifications that are still to be sent, a row for each device, shared by all instances. */
export class Outbox {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Adds notifications for the devices that their users have now. Again does no harm. */
  async add(addressed: readonly AddressedNotification[]): Promise<void> {
    if (addressed.length === 0) return
    await this.#pool.query({
      name: 'add to outbox',
      text: `insert into push_outbox (token, position, user_id, notification)
             select d.token, n.position, n.user_id, n.notification
             from unnest($1::bigint[], $2::bigint[], $3::text[]) as n (position, user_id, notification)
             cross join lateral (
               select token from devices where user_id = n.user_id order by registered_at desc limit ${MAX_DEVICES_PER_USER}
             ) d
             where (select count(*) from push_outbox w where w.token = d.token) < ${MAX_QUEUED_PER_DEVICE}
             on conflict do nothing`,
      values: [
        addressed.map(({ position }) => position),
        addressed.map(({ user_id }) => user_id),
        addressed.map(({ notification }) => JSON.stringify(notification)),
      ],
    })
  }

  /** Takes rows that are due, those first that have been due for longest; nobody else gets them until the lease ends. */
  async lease(limit: number): Promise<LeasedDelivery[]> {
    const { rows } = await this.#pool.query<Omit<LeasedDelivery, 'notification'> & { readonly notification: string }>({
      name: 'claim from outbox',
      text: `with due as (
               select token, position from push_outbox where next_attempt <= now()
               order by next_attempt limit $1 for update skip locked
             )
             update push_outbox o
             set attempts = o.attempts + 1, next_attempt = now() + ${LEASE_MS} * interval '1 millisecond'
             from due where o.token = due.token and o.position = due.position
             returning o.token, o.position, o.user_id, o.notification, o.attempts,
                       (select d.registered_at from devices d where d.token = o.token and d.user_id = o.user_id) as registered_at,
                       o.made_at < now() - interval '${MAX_AGE}' as stale`,
      values: [limit],
    })
    return rows.map((row) => ({ ...row, notification: readNotification(row.notification) }))
  }

  /** It arrived, or there is no use in sending it. */
  async remove({ token, position }: LeasedDelivery): Promise<void> {
    await this.#pool.query({
      name: 'remove from outbox',
      text: 'delete from push_outbox where token = $1 and position = $2',
      values: [token, position],
    })
  }

  /** It is due again after a while. Changes nothing when the lease has ended and somebody else has it. */
  async reschedule({ token, position, attempts }: LeasedDelivery, ms: number): Promise<void> {
    await this.#pool.query({
      name: 'put off in outbox',
      text: `update push_outbox set next_attempt = now() + $4 * interval '1 millisecond'
             where token = $1 and position = $2 and attempts = $3`,
      values: [token, position, attempts, ms],
    })
  }

  /** The token leads nowhere: drops the device, unless it has been registered anew since the row was claimed. */
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
