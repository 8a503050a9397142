import { notificationMapper, tables } from './domain.ts'
import { agencySlice } from './features/agency/routes.ts'
import { coveredAgencyVerbs } from './features/agency/verbs.ts'
import { appStatusSlice } from './features/app-status/routes.ts'
import { closingsSlice } from './features/closings/routes.ts'
import { createFairnessSlice } from './features/fairness/routes.ts'
import { checkDraw, decorationNames } from './features/gifts/reads.ts'
import { giftsSlice } from './features/gifts/routes.ts'
import { coveredGiftVerbs } from './features/gifts/verbs.ts'
import { createNotificationsSlice } from './features/notifications/routes.ts'
import { packageNames } from './features/privilege/reads.ts'
import { privilegeSlice } from './features/privilege/routes.ts'
import { coveredPrivilegeVerbs } from './features/privilege/verbs.ts'
import { findCallsOf } from './features/proposals/register-covered.ts'
import { createProposalsSlice } from './features/proposals/routes.ts'
import { roomNames, roomStatesWith } from './features/rooms/reads.ts'
import { createRoomsSlice } from './features/rooms/routes.ts'
import { activeGame, checkSpin } from './features/roulette/reads.ts'
import { rouletteSlice } from './features/roulette/routes.ts'
import { seats } from './features/roulette/seats.ts'
import type { Settings } from './features/services.ts'
import type { Slice } from './features/slice.ts'
import { staffSlice } from './features/staff/routes.ts'
import { userNames } from './features/users/reads.ts'
import { usersSlice } from './features/users/routes.ts'
import { walletSlice } from './features/wallet/routes.ts'
import { coveredWalletVerbs } from './features/wallet/verbs.ts'
import type { ReceivableVerb } from './ledger/executor/command.ts'
import { createNotifier } from './notifications/notifier.ts'
import type { ProfileLookups } from './realtime/frames/frame-mapper.ts'
import type { FindRoomStates } from './realtime/subscriptions/channel-access.ts'

// What the world sees of the business; audits load only what events mean, which is in `domain.ts`. Slices do not import
// each other: what one needs of another is passed to it here.

const findCall = findCallsOf([
  ...coveredWalletVerbs,
  ...coveredGiftVerbs,
  ...coveredPrivilegeVerbs,
  ...coveredAgencyVerbs,
])
const nameLookups = { users: userNames(() => ''), packages: packageNames }

/** All slices, in the order in which the documents list them. */
export const slices: readonly Slice[] = [
  usersSlice,
  createRoomsSlice(activeGame, seats),
  walletSlice,
  giftsSlice,
  privilegeSlice,
  rouletteSlice,
  agencySlice,
  createNotificationsSlice(notificationMapper, nameLookups),
  createFairnessSlice({ lg1: checkDraw, rr1: checkSpin }),
  appStatusSlice,
  staffSlice,
  createProposalsSlice({ findCall, tables }),
  closingsSlice,
]

/** All verbs by their names, as instances know them. Throws when two have one name. */
export function verbsOf(settings: Settings): ReadonlyMap<string, ReceivableVerb> {
  const verbs = slices.flatMap(({ configure }) => Object.values(configure?.(settings).verbs ?? {}))
  const byName = new Map(verbs.map((verb) => [verb.name, verb]))
  if (byName.size < verbs.length) throw new Error('two verbs have the same name')
  return byName
}

/** Composes the push notifications of events. */
export const notifier = createNotifier(notificationMapper, nameLookups)

/** Looks up the profiles that frames show; addresses of pictures begin with the base. */
export const createLookups = (assetBaseUrl: () => string): ProfileLookups => ({
  users: userNames(assetBaseUrl),
  rooms: roomNames,
  decorations: decorationNames,
  packages: packageNames,
})

/** Finds the states of rooms that sockets ask for. */
export const createRoomStates = (assetBaseUrl: () => string): FindRoomStates => roomStatesWith(activeGame, assetBaseUrl)
