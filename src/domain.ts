import { agencyModel } from './features/agency/model.ts'
import { appStatusModel } from './features/app-status/model.ts'
import { fairnessModel } from './features/fairness/model.ts'
import { giftsModel } from './features/gifts/model.ts'
import type { Model } from './features/model.ts'
import { privilegeModel } from './features/privilege/model.ts'
import { roomsModel } from './features/rooms/model.ts'
import { rouletteModel } from './features/roulette/model.ts'
import { sharedRefusals } from './features/shared-refusals.ts'
import type { Slice } from './features/slice.ts'
import { staffModel } from './features/staff/model.ts'
import { usersModel } from './features/users/model.ts'
import { walletModel } from './features/wallet/model.ts'
import { type RefusalResponseOf, refusalResponsesIn } from './http/errors/refusals.ts'
import { combineEvolvers, type Evolve, type EvolveWithMovements } from './ledger/rules/evolve.ts'
import type { RowTable } from './ledger/storage/row-table.ts'
import { ledgerTables } from './ledger/storage/tables.ts'
import type { ProfileLookups } from './realtime/frames/profiles.ts'
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
  appStatusModel,
  staffModel,
]

/** Folds an event into the rows that it changes, with its movements given separately. */
export const evolveWithMovements: EvolveWithMovements = combineEvolvers(models.flatMap(({ evolvers }) => evolvers))

/** Folds an event into the rows that it changes. */
export const evolve: Evolve = (state, event) => evolveWithMovements(state, event, event.movements)

/** Every table that the executor keeps. */
export const tables: readonly RowTable[] = [...ledgerTables, ...vaultTables, ...models.flatMap((model) => model.tables)]

/** The HTTP status and message of every refusal. */
export const refusalResponseOf: RefusalResponseOf = refusalResponsesIn([
  sharedRefusals,
  ...models.map(({ refusals }) => refusals),
])

interface Slices {
  /** In the order in which the documents list them. */
  readonly slices: readonly Slice[]
  /** Looks up the profiles that frames show; addresses of pictures begin with the base. */
  readonly createLookups: (assetBaseUrl: () => string) => ProfileLookups
}

/**
 * The slices with their routes, loaded on demand: audits read only the models. Slices do not import each other; what
 * one needs of another is passed to it here.
 */
export async function loadSlices(): Promise<Slices> {
  const [users, rooms, wallet, gifts, privilege, roulette, agency, fairness, appStatus, staff] = await Promise.all([
    import('./features/users/slice.ts'),
    import('./features/rooms/slice.ts'),
    import('./features/wallet/slice.ts'),
    import('./features/gifts/slice.ts'),
    import('./features/privilege/slice.ts'),
    import('./features/roulette/slice.ts'),
    import('./features/agency/slice.ts'),
    import('./features/fairness/slice.ts'),
    import('./features/app-status/slice.ts'),
    import('./features/staff/slice.ts'),
  ])
  return {
    slices: [
      users.usersSlice,
      rooms.createRoomsSlice(roulette.activeGame),
      wallet.walletSlice,
      gifts.giftsSlice,
      privilege.privilegeSlice,
      roulette.rouletteSlice,
      agency.agencySlice,
      fairness.createFairnessSlice({ lg1: gifts.checkDraw, rr1: roulette.checkSpin }),
      appStatus.appStatusSlice,
      staff.staffSlice,
    ],
    createLookups: (assetBaseUrl) => ({
      users: users.userNames(assetBaseUrl),
      rooms: rooms.roomNames,
      decorations: gifts.decorationNames,
      packages: privilege.packageNames,
    }),
  }
}
