import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Tables } from '../db/tables.ts'
import type { StoredFollower } from '../ledger/tail.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Notifier } from './notifier.ts'
import type { Outbox } from './outbox.ts'

/** Puts what users are to be told into the outbox: that is all that the ledger's follower waits for. */
export const intoOutbox =
  (db: Kysely<Tables>, notifier: Notifier, outbox: Outbox, dispatcher: Pick<Dispatcher, 'wake'>): StoredFollower =>
  async (events) => {
    const addressed = await notifier(db, events)
    await outbox.add(addressed)
    if (addressed.length > 0) dispatcher.wake()
    return addressed.length > 0
  }

/** Writes what users are to be told to the log, for want of a way to their devices. */
export const intoLog =
  (db: Kysely<Tables>, notifier: Notifier, log: Pick<Logger, 'info'>): StoredFollower =>
  async (events) => {
    const addressed = await notifier(db, events)
    for (const { user_id, position, notification } of addressed) {
      log.info({ user_id, position, notification }, 'a push notification; FCM_SERVICE_ACCOUNT is not set')
    }
    return addressed.length > 0
  }
