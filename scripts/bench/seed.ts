import { grantService } from '../../src/db/migrations/grants.ts'
import { migrate } from '../../src/db/migrations/migrate.ts'
import { evolve, tables } from '../../src/domain.ts'
import { luckyChains } from '../../src/features/fairness/lg1.ts'
import { defineDecoration } from '../../src/features/gifts/catalogue/define-decoration.ts'
import { sendGift } from '../../src/features/gifts/send.ts'
import { defineRoom } from '../../src/features/rooms/define-room.ts'
import { defineUsers } from '../../src/features/users/define-user.ts'
import { credit } from '../../src/features/wallet/credit.ts'
import { Executor, type Limits } from '../../src/ledger/executor/executor.ts'
import { genesis } from '../../src/ledger/storage/genesis.ts'
import { runAsSystem } from '../../src/startup/system.ts'
import type { DatabaseUrls } from './run/cluster.ts'
import { keys } from './run/keys.ts'
import { asInput, DIAMONDS, GIFT, ROOMS, sendBy, USERS } from './workload.ts'

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

/** An executor without observers: failures reject the promises of its commands. */
export const openExecutor = (url: string, limits: Partial<Limits> = {}): Executor =>
  new Executor({ url, tables, evolve, limits, observer: { committed: () => {}, bug: () => {}, failed: () => {} } })

/** Numbers of users, a multiple of 1,000, and of rooms. */
export interface Population {
  readonly users: number
  readonly rooms: number
}

export const population: Population = { users: USERS, rooms: ROOMS }

/** Creates the tables, users with diamonds, rooms and the gift: about 21,000 events. */
export async function seed(
  { ownerUrl, serviceUrl }: DatabaseUrls,
  { users: count, rooms } = population,
): Promise<void> {
  await migrate(ownerUrl)
  await grantService(ownerUrl, 'economy_service')
  await using closing = new AsyncDisposableStack()
  const executor = openExecutor(serviceUrl)
  closing.defer(() => executor.close())
  const { keyHash } = luckyChains(keys.FAIRNESS_KEY)
  await runAsSystem(executor, genesis, { fairness_key: keyHash })
  await runAsSystem(executor, defineDecoration, { ...GIFT, decoration_id: GIFT.id })
  for (const from of upTo(count).filter((id) => id % 1000 === 1)) {
    const users = upTo(1000).map((i) => ({ id: from + i - 1 }))
    await runAsSystem(executor, defineUsers, { users, listed: true })
  }
  const diamonds = { currency: 'diamonds', amount: DIAMONDS, reason: 'bench' } as const
  await Promise.all([
    ...upTo(rooms).map((id) => runAsSystem(executor, defineRoom, { id, owner_id: id })),
    ...upTo(count).map((user_id) => runAsSystem(executor, credit, { user_id, ...diamonds })),
  ])
}

/** Sends one gift as each of the first users. */
export async function sendSome(serviceUrl: string, count: number): Promise<void> {
  await using closing = new AsyncDisposableStack()
  const executor = openExecutor(serviceUrl)
  closing.defer(() => executor.close())
  const send = sendGift({ chains: luckyChains(keys.FAIRNESS_KEY), ownerPercent: 0 })
  await Promise.all(
    upTo(count)
      .map((user) => sendBy(user, 'uniform'))
      .map((gift) => runAsSystem(executor, send, asInput(gift))),
  )
}
