import type { Pool } from 'pg'
import { pino } from 'pino'
import type { Language } from '../../schema/languages.ts'
import { openPool } from '../../src/db/pool.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { registerDevice } from '../../src/features/users/device.ts'
import type { AddressedNotification } from '../../src/notifications/notifier.ts'
import { Outbox } from '../../src/notifications/outbox.ts'
import { createTestExecutor, type TestExecutor } from '../harness/ledger/test-executor.ts'
import { type TestDatabase, testDatabase } from '../harness/postgres/test-database.ts'
import type { Scope } from '../harness/scope.ts'

export const log = pino({ level: 'silent' })

/** An outbox in a database of its own, with users 1 to 9. */
export interface OutboxFixture {
  readonly database: TestDatabase
  readonly executor: TestExecutor
  readonly pool: Pool
  readonly outbox: Outbox
  /** Registers a device of a user. */
  readonly register: (user_id: number, token: string, language?: Language) => Promise<unknown>
  /** Adds a notification of the event at a position. */
  readonly notify: (position: number, user_id: number) => Promise<void>
  readonly queued: () => Promise<string[]>
}

export async function openOutbox(t: Scope): Promise<OutboxFixture> {
  const database = await testDatabase()
  const ledger = createTestExecutor(t, database.serviceUrl)
  const pool = openPool(database.serviceUrl, { max: 4, application_name: 'push under test' }, log)
  t.teardown(() => pool.end())
  await ledger.runOk(defineUsers, { users: [1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => ({ id })), listed: true })
  const outbox = new Outbox(pool)
  return {
    database,
    executor: ledger,
    pool,
    outbox,
    register: (user_id, token, language = 'en') =>
      ledger.runOk(registerDevice, { user_id, token, platform: 'android', language }),
    notify: (position, user_id) => outbox.add([notificationTo(position, user_id)]),
    async queued() {
      const { rows } = await pool.query('select token, position from push_outbox order by token, position')
      return rows.map(({ token, position }) => `${token} ${position}`)
    },
  }
}

export const notificationTo = (position: number, user_id: number): AddressedNotification => ({
  position,
  user_id,
  notification: {
    en: { title: 'New privilege', body: `for ${user_id}`, type: 'reward', identifier: 'privilege-package-wallet' },
    ar: { title: 'امتياز جديد', body: `للمستخدم ${user_id}`, type: 'reward', identifier: 'privilege-package-wallet' },
  },
})
