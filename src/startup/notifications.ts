import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { queryBuilder } from '../db/queries/query-builder.ts'
import type { Metrics } from '../http/observability/metrics.ts'
import type { Tail } from '../ledger/subscriptions/tail.ts'
import { Dispatcher } from '../notifications/dispatcher.ts'
import { fcmSender } from '../notifications/fcm-sender.ts'
import { unreadOnly } from '../notifications/notifier.ts'
import { Outbox, type Send } from '../notifications/outbox.ts'
import { logSubscriber, outboxSubscriber } from '../notifications/subscribers.ts'
import { notifier as composedNotifier } from '../slices.ts'
import type { Database } from './database.ts'

/** The name of the subscription's cursor in `ledger_cursors`, the same with and without FCM. */
export const PUSH_SUBSCRIBER = 'push'
/** How long sends that are under way may take when the service stops. */
const STOP_TIMEOUT_MS = 1_500

/** Sends notifications to users' devices; stopped by `cleanUp`. */
export function startNotifications(
  fcm: Config['fcm'],
  { subscriberPool }: Pick<Database, 'subscriberPool'>,
  tail: Pick<Tail, 'subscribeDurable'>,
  metrics: Pick<Metrics, 'pushAttempted'>,
  log: Logger,
  cleanUp: AsyncDisposableStack,
): void {
  const db = queryBuilder(subscriberPool)
  const notifier = unreadOnly(composedNotifier)
  if (fcm === null) {
    tail.subscribeDurable(PUSH_SUBSCRIBER, logSubscriber(db, notifier, log))
    return
  }
  const sendAbort = new AbortController()
  const outbox = new Outbox(subscriberPool)
  const fcmSend = fcmSender(fcm.account, fcm.baseUrl, sendAbort.signal)
  const send: Send = async (delivery) => {
    const outcome = await fcmSend(delivery)
    metrics.pushAttempted(outcome.kind)
    return outcome
  }
  const dispatcher = new Dispatcher({ outbox, send, log })
  cleanUp.defer(async () => {
    const stopTimeout = setTimeout(() => sendAbort.abort(), STOP_TIMEOUT_MS)
    await dispatcher.stop()
    clearTimeout(stopTimeout)
  })
  dispatcher.start()
  tail.subscribeDurable(PUSH_SUBSCRIBER, outboxSubscriber(db, notifier, outbox, dispatcher, log))
}
