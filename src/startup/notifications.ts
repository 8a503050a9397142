import { Kysely, PostgresDialect } from 'kysely'
import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import type { Tables } from '../db/tables.ts'
import type { Slice } from '../features/slice.ts'
import type { Tail } from '../ledger/subscriptions/tail.ts'
import { Dispatcher } from '../notifications/dispatcher.ts'
import { fcmSender } from '../notifications/fcm.ts'
import { combineNotifiers } from '../notifications/notifier.ts'
import { Outbox } from '../notifications/outbox.ts'
import { logSubscriber, outboxSubscriber } from '../notifications/subscribers.ts'
import type { Database } from './database.ts'

/** The name of the ledger's cursor, one whatever notifications are sent with. */
export const PUSH_FOLLOWER = 'push'
/** How long sends that are under way may take when the service stops. */
const STOP_MS = 1_500

/** Tells users on their devices of what the slices have to tell; stopped by `cleanUp`. */
export function startPush(
  fcm: Config['fcm'],
  { followers }: Pick<Database, 'followers'>,
  tail: Pick<Tail, 'subscribeDurable'>,
  slices: readonly Slice[],
  log: Logger,
  cleanUp: AsyncDisposableStack,
): void {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: followers }) })
  const notifier = combineNotifiers(slices.flatMap(({ notifier = [] }) => notifier))
  if (fcm === null) {
    tail.subscribeDurable(PUSH_FOLLOWER, logSubscriber(db, notifier, log))
    return
  }
  const giveUp = new AbortController()
  const outbox = new Outbox(followers)
  const dispatcher = new Dispatcher({ outbox, send: fcmSender(fcm.account, fcm.baseUrl, giveUp.signal), log })
  cleanUp.defer(async () => {
    const patience = setTimeout(() => giveUp.abort(), STOP_MS)
    await dispatcher.stop()
    clearTimeout(patience)
  })
  dispatcher.start()
  tail.subscribeDurable(PUSH_FOLLOWER, outboxSubscriber(db, notifier, outbox, dispatcher, log))
}
