import { agencyModel } from './features/agency/model.ts'
import { appStatusModel } from './features/app-status/model.ts'
import { closingsModel } from './features/closings/model.ts'
import { fairnessModel } from './features/fairness/model.ts'
import { giftsModel } from './features/gifts/model.ts'
import type { Model } from './features/model.ts'
import { notificationsModel } from './features/notifications/model.ts'
import { privilegeModel } from './features/privilege/model.ts'
import { proposalsModel } from './features/proposals/model.ts'
import { roomsModel } from './features/rooms/model.ts'
import { rouletteModel } from './features/roulette/model.ts'
import type { RegisterCovered, VerbTerms } from './features/services.ts'
import { sharedRefusals } from './features/shared-refusals.ts'
import type { Slice } from './features/slice.ts'
import { staffModel } from './features/staff/model.ts'
import { usersModel } from './features/users/model.ts'
import { walletModel } from './features/wallet/model.ts'
import { type RefusalResponseOf, refusalResponsesIn } from './http/errors/refusals.ts'
import { findCallsOf } from './ledger/executor/registry/covered-verb.ts'
import type { ReceivableVerb } from './ledger/executor/registry/registered-verb.ts'
import { combineEvolvers, type Evolve, type EvolveWithMovements } from './ledger/rules/evolve.ts'
import { evolveIncarnation } from './ledger/rules/incarnation.ts'
import type { RowTable } from './ledger/storage/row-table.ts'
import { ledgerTables } from './ledger/storage/tables.ts'
import { combineNotificationMappers, type NotificationMapper } from './notifications/event-notification.ts'
import { createInboxEvolver } from './notifications/inbox/inbox.ts'
import { inboxTables } from './notifications/inbox/tables.ts'
import { createNotifier, type Notifier } from './notifications/notifier.ts'
import type { ProfileLookups } from './realtime/frames/profiles.ts'
import type { FindRoomStates } from './realtime/subscriptions/room-state.ts'
import { vaultTables } from './vault/tables.ts'

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

/** Every table that the executor keeps. */
export const tables: readonly RowTable[] = [
  ...ledgerTables,
  ...vaultTables,
  ...inboxTables,
  ...models.flatMap((model) => model.tables),
]

/** The HTTP status and message of every refusal. */
export const refusalResponseOf: RefusalResponseOf = refusalResponsesIn([
  sharedRefusals,
  ...models.map(({ refusals }) => refusals),
])

interface Slices {
  /** In the order in which the documents list them. */
  readonly slices: readonly Slice[]
  /** All verbs by their names, as instances know them. Throws when two have one name. */
  readonly createVerbs: (terms: VerbTerms) => ReadonlyMap<string, ReceivableVerb>
  /** What `createVerbs` and routes register the verbs of staff with that may need an approval. */
  readonly registerCovered: RegisterCovered
  /** Composes the push notifications of events. */
  readonly notifier: Notifier
  /** Looks up the profiles that frames show; addresses of pictures begin with the base. */
  readonly createLookups: (assetBaseUrl: () => string) => ProfileLookups
  /** Finds the states of rooms that sockets ask for. */
  readonly createRoomStates: (assetBaseUrl: () => string) => FindRoomStates
}

/**
 * The slices with their routes, loaded on demand: audits read only the models. Slices do not import each other; what
 * one needs of another is passed to it here.
 */
export async function loadSlices(): Promise<Slices> {
  const [
    users,
    rooms,
    wallet,
    gifts,
    privilege,
    roulette,
    agency,
    notifications,
    fairness,
    appStatus,
    staff,
    proposals,
    closings,
  ] = await Promise.all([
    import('./features/users/slice.ts'),
    import('./features/rooms/slice.ts'),
    import('./features/wallet/slice.ts'),
    import('./features/gifts/slice.ts'),
    import('./features/privilege/slice.ts'),
    import('./features/roulette/slice.ts'),
    import('./features/agency/slice.ts'),
    import('./features/notifications/slice.ts'),
    import('./features/fairness/slice.ts'),
    import('./features/app-status/slice.ts'),
    import('./features/staff/slice.ts'),
    import('./features/proposals/slice.ts'),
    import('./features/closings/slice.ts'),
  ])
  const [covered, { proposalVerbs, registerCovered }] = await Promise.all([
    Promise.all([
      import('./features/wallet/verbs.ts').then(({ coveredWalletVerbs }) => coveredWalletVerbs),
      import('./features/gifts/verbs.ts').then(({ coveredGiftVerbs }) => coveredGiftVerbs),
      import('./features/privilege/verbs.ts').then(({ coveredPrivilegeVerbs }) => coveredPrivilegeVerbs),
      import('./features/agency/verbs.ts').then(({ coveredAgencyVerbs }) => coveredAgencyVerbs),
    ]),
    import('./features/proposals/verbs.ts'),
  ])
  const findCall = findCallsOf(covered.flat())
  const verbLists = await Promise.all([
    import('./features/users/verbs.ts').then(({ userVerbs }) => userVerbs),
    import('./features/rooms/verbs.ts').then(
      ({ roomVerbs }) =>
        () =>
          roomVerbs(roulette.seats),
    ),
    import('./features/wallet/verbs.ts').then(({ walletVerbs }) => walletVerbs),
    import('./features/gifts/verbs.ts').then(({ giftVerbs }) => giftVerbs),
    import('./features/privilege/verbs.ts').then(({ privilegeVerbs }) => privilegeVerbs),
    import('./features/roulette/verbs.ts').then(({ rouletteVerbs }) => rouletteVerbs),
    import('./features/agency/verbs.ts').then(({ agencyVerbs }) => agencyVerbs),
    import('./features/notifications/verbs.ts').then(({ notificationVerbs }) => notificationVerbs),
    import('./features/app-status/verbs.ts').then(({ appStatusVerbs }) => appStatusVerbs),
    import('./features/staff/verbs.ts').then(({ staffVerbs }) => staffVerbs),
    import('./features/closings/verbs.ts').then(({ closingVerbs }) => closingVerbs),
  ])
  const nameLookups = { users: users.userNames(() => ''), packages: privilege.packageNames }
  return {
    slices: [
      users.usersSlice,
      rooms.createRoomsSlice(roulette.activeGame, roulette.seats),
      wallet.walletSlice,
      gifts.giftsSlice,
      privilege.privilegeSlice,
      roulette.rouletteSlice,
      agency.agencySlice,
      notifications.createNotificationsSlice(notificationMapper, nameLookups),
      fairness.createFairnessSlice({ lg1: gifts.checkDraw, rr1: roulette.checkSpin }),
      appStatus.appStatusSlice,
      staff.staffSlice,
      proposals.createProposalsSlice(findCall, tables),
      closings.closingsSlice,
    ],
    createVerbs: (terms) =>
      verbsByName(
        [...verbLists, () => proposalVerbs(findCall)].flatMap((verbs) => Object.values<ReceivableVerb>(verbs(terms))),
      ),
    registerCovered,
    notifier: createNotifier(notificationMapper, nameLookups),
    createLookups: (assetBaseUrl) => ({
      users: users.userNames(assetBaseUrl),
      rooms: rooms.roomNames,
      decorations: gifts.decorationNames,
      packages: privilege.packageNames,
    }),
    createRoomStates: (assetBaseUrl) => rooms.roomStatesWith(roulette.activeGame, assetBaseUrl),
  }
}

function verbsByName(verbs: readonly ReceivableVerb[]): ReadonlyMap<string, ReceivableVerb> {
  const byName = new Map(verbs.map((verb) => [verb.name, verb]))
  if (byName.size < verbs.length) throw new Error('two verbs have the same name')
  return byName
}
