import type { Kysely } from 'kysely'
import { DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { isConnectionError } from '../db/postgres-errors.ts'
import { queryBatch } from '../db/queries/batched-lookup.ts'
import type { Tables } from '../db/tables.ts'
import type { PositionedEvent } from '../ledger/rules/event.ts'
import type { DurableSubscriber } from '../ledger/subscriptions/tail.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { AddressedNotification, Notifier } from './notifier.ts'
import type { Outbox } from './outbox.ts'

type FailureLog = Pick<Logger, 'error'>

/** Stores the notifications of events in the outbox; the ledger's subscriber waits for nothing else. */
export const outboxSubscriber =
  (
    db: Kysely<Tables>,
    notifier: Notifier,
    outbox: Pick<Outbox, 'add'>,
    dispatcher: Pick<Dispatcher, 'wake'>,
    log: FailureLog,
  ): DurableSubscriber =>
  async (events) => {
    const addressed = await composeAll(db, notifier, events, log)
    const added = await queryBatch(addressed, async (some) => {
      await outbox.add(some)
      return some
    })
    logFailures(addressed, added, 'push notification could not be stored; dropped', log)
    if (addressed.length > 0) dispatcher.wake()
    return addressed.length > 0
  }

/** Logs notifications where no sender is configured; without their text, which names people. */
export const logSubscriber =
  (db: Kysely<Tables>, notifier: Notifier, log: Pick<Logger, 'info' | 'error'>): DurableSubscriber =>
  async (events) => {
    const addressed = await composeAll(db, notifier, events, log)
    for (const { user_id, position, notification } of addressed) {
      const { type, identifier } = notification.en
      log.info({ user_id, position, type, identifier }, 'push notification not sent: FCM_SERVICE_ACCOUNT is not set')
    }
    return addressed.length > 0
  }

/** The notifications of all events; an event whose notification cannot be composed is left out and delays no other. */
async function composeAll(
  db: Kysely<Tables>,
  notifier: Notifier,
  events: readonly PositionedEvent[],
  log: FailureLog,
): Promise<readonly AddressedNotification[]> {
  const results = await queryBatch(events, async (some) => {
    const byPosition = Map.groupBy(await notifier(db, some), ({ position }) => position)
    return some.map(({ position }) => byPosition.get(position) ?? [])
  })
  logFailures(events, results, 'push notification could not be composed; dropped', log)
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
}

/** An error of the data itself (SQLSTATE classes 22 and 23), which every retry would repeat. */
const isDataError = (code: string): boolean => /^2[23][0-9A-Z]{3}$/.test(code)

/** Whether a retry may succeed: a lost connection, a deadlock, tables that are being swapped. */
const isTransient = (error: unknown): boolean =>
  isConnectionError(error) || (error instanceof DatabaseError && !isDataError(error.code ?? ''))

/** Logs what is dropped. Rethrows a transient error instead, so that all events are delivered again. */
function logFailures(
  members: readonly { readonly position: number }[],
  results: readonly PromiseSettledResult<unknown>[],
  message: string,
  log: FailureLog,
): void {
  for (const [i, result] of results.entries()) {
    if (result.status === 'fulfilled') continue
    const err: unknown = result.reason
    if (isTransient(err)) throw err
    log.error({ position: members[i]?.position, err }, message)
  }
}
