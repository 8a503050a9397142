import { financeSlice } from './audit/routes/slice.ts'
import { agencySlice } from './features/agency/slice.ts'
import { appStatusSlice } from './features/app-status/slice.ts'
import { verifyWith } from './features/fairness/slice.ts'
import { checkDraw, decorationNames } from './features/gifts/reads.ts'
import { giftsSlice } from './features/gifts/slice.ts'
import { packageNames } from './features/privilege/reads.ts'
import { privilegeSlice } from './features/privilege/slice.ts'
import { roomNames } from './features/rooms/reads.ts'
import { roomsWith } from './features/rooms/slice.ts'
import { activeGames, checkSpin } from './features/roulette/reads.ts'
import { rouletteSlice } from './features/roulette/slice.ts'
import type { Slice } from './features/slice.ts'
import { staffSlice } from './features/staff/slice.ts'
import { userNames } from './features/users/reads.ts'
import { usersSlice } from './features/users/slice.ts'
import { walletSlice } from './features/wallet/slice.ts'
import type { ProfileLookups } from './realtime/frames/frame-mapper.ts'

// Slices do not know each other. What one shows of another is handed over here.
export const roomsSlice = roomsWith(activeGames)
const verifySlice = verifyWith({ lg1: checkDraw, rr1: checkSpin })

/** The one list of slices. */
export const slices: readonly Slice[] = [
  usersSlice,
  roomsSlice,
  walletSlice,
  giftsSlice,
  privilegeSlice,
  rouletteSlice,
  agencySlice,
  verifySlice,
  financeSlice,
  appStatusSlice,
  staffSlice,
]

/** Where the words are found that announcements want. */
export const lookupsWith = (assetBaseUrl: () => string): ProfileLookups => ({
  users: userNames(assetBaseUrl),
  rooms: roomNames,
  decorations: decorationNames,
  packages: packageNames,
})
