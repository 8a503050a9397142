import { agencySlice } from './agency/slice.ts'
import { appStatusSlice } from './app-status/slice.ts'
import { financeSlice } from './finance/slice.ts'
import { checkDraw, decorationNames } from './gifts/reads.ts'
import { giftsSlice } from './gifts/slice.ts'
import type { Slice } from './http/slice.ts'
import type { Lookups } from './live/announcer.ts'
import { namesOf } from './people/reads.ts'
import { peopleSlice } from './people/slice.ts'
import { packageNames } from './privilege/reads.ts'
import { privilegeSlice } from './privilege/slice.ts'
import { roomNames } from './rooms/reads.ts'
import { roomsWith } from './rooms/slice.ts'
import { activeGames, checkSpin } from './roulette/reads.ts'
import { rouletteSlice } from './roulette/slice.ts'
import { staffSlice } from './staff/slice.ts'
import { verifyWith } from './verify/slice.ts'
import { walletSlice } from './wallet/slice.ts'

// Slices do not know each other. What one shows of another is handed over here.
export const roomsSlice = roomsWith(activeGames)
const verifySlice = verifyWith({ lg1: checkDraw, rr1: checkSpin })

/** The one list of slices. */
export const slices: readonly Slice[] = [
  peopleSlice,
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
export const lookupsWith = (assetBaseUrl: () => string): Lookups => ({
  users: namesOf(assetBaseUrl),
  rooms: roomNames,
  decorations: decorationNames,
  packages: packageNames,
})
