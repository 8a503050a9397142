import type { Kysely } from 'kysely'
import { DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { isConnectionError } from '../db/connection-errors.ts'
import { queryBatch } from '../db/query-batch.ts'
import type { Tables } from '../db/tables.ts'
import type { PositionedEvent } from '../ledger/rules/event.ts'
import type { DurableSubscriber } from '../ledger/subscriptions/tail.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { AddressedNotification, Notifier } from './notifier.ts'
import type { Outbox } from './outbox.ts'

type FailureLog = Pick<Logger, 'error'>

/** Puts what users are to be told into the outbox: that is all that the ledger's follower waits for. */
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

/** Logs what users are to be told, for want of a way to their devices; without its text, which names people. */
export const logSubscriber =
  (db: Kysely<Tables>, notifier: Notifier, log: Pick<Logger, 'info' | 'error'>): DurableSubscriber =>
  async (events) => {
    const addressed = await composeAll(db, notifier, events, log)
    for (const { user_id, position, notification } of addressed) {
      const { type, identifier } = notification
      log.info({ user_id, position, type, identifier }, 'a push notification; FCM_SERVICE_ACCOUNT is not set')
    }
    return addressed.length > 0
  }

/** What all events tell users; an event that cannot be read is left out and delays no other. */
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

/** Data that cannot be stored or read, by SQLSTATE class: it fails however often it is tried. */
const isDataError = (code: string): boolean => /^2[23][0-9A-Z]{3}$/.test(code)

/** Whether it may work the next time: a lost connection, a deadlock, tables that are being swapped. */
const isTransient = (error: unknown): boolean =>
  isConnectionError(error) || (error instanceof DatabaseError && !isDataError(error.code ?? ''))

/** Throws an error that may pass: then all of them come again. */
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
