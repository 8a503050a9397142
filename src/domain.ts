import type { TablesOf } from './db/tables.ts'
import { agencyModel } from './features/agency/model.ts'
import { appStatusModel } from './features/app-status/model.ts'
import { closingsModel } from './features/closings/model.ts'
import { fairnessModel } from './features/fairness/model.ts'
import { giftsModel } from './features/gifts/model.ts'
import { type Model, sharedRefusals } from './features/model.ts'
import { notificationsModel } from './features/notifications/model.ts'
import { privilegeModel } from './features/privilege/model.ts'
import { proposalsModel } from './features/proposals/model.ts'
import { roomsModel } from './features/rooms/model.ts'
import { rouletteModel } from './features/roulette/model.ts'
import { staffModel } from './features/staff/model.ts'
import { usersModel } from './features/users/model.ts'
import { walletModel } from './features/wallet/model.ts'
import { type RefusalResponseOf, refusalResponsesIn } from './http/errors/refusals.ts'
import { combineEvolvers, type Evolve, type EvolveWithMovements } from './ledger/rules/event.ts'
import { evolveIncarnation } from './ledger/rules/incarnation.ts'
import { ledgerTables, type RowTable, rowTable } from './ledger/storage/row-table.ts'
import { combineNotificationMappers, type NotificationMapper } from './notifications/event-notification.ts'
import { createInboxEvolver, notificationCounts, notifications } from './notifications/inbox.ts'
import { vaultKeys, vaultRecords } from './vault/record.ts'

const models: readonly Model[] = [
  usersModel,
  roomsModel,
  walletModel,
  giftsModel,
  fairnessModel,
  privilegeModel,
  rouletteModel,
  agencyModel,
  notificationsModel,
  appStatusModel,
  staffModel,
  proposalsModel,
  closingsModel,
]

/** Whom the events of all slices tell what. */
export const notificationMapper: NotificationMapper = combineNotificationMappers(
  models.flatMap(({ notifications = [] }) => notifications),
)

/** Folds an event into the rows that it changes, with its movements given separately. */
export const evolveWithMovements: EvolveWithMovements = combineEvolvers([
  evolveIncarnation,
  ...models.flatMap(({ evolvers }) => evolvers),
  createInboxEvolver(notificationMapper),
])

/** Folds an event into the rows that it changes. */
export const evolve: Evolve = (state, event) => evolveWithMovements(state, event, event.movements)

const vaultAndInboxTables = [
  rowTable(vaultKeys, { source: 'profile', key: ['record_id'] }),
  rowTable(vaultRecords, { source: 'profile', key: ['record_id'] }),
  rowTable(notifications, { key: ['user_id', 'position'] }),
  rowTable(notificationCounts, { key: ['user_id'] }),
]

declare module './db/tables.ts' {
  interface Tables extends TablesOf<typeof vaultAndInboxTables> {}
}

/** Every table that the executor keeps. */
export const tables: readonly RowTable[] = [
  ...ledgerTables,
  ...vaultAndInboxTables,
  ...models.flatMap((model) => model.tables),
]

/** The HTTP status and message of every refusal. */
export const refusalResponseOf: RefusalResponseOf = refusalResponsesIn([
  sharedRefusals,
  ...models.map(({ refusals }) => refusals),
])
