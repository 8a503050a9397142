import { agencySlice } from './agency/slice.ts'
import { appStatusSlice } from './app-status/slice.ts'
import { financeSlice } from './finance/slice.ts'
import { checkDraw } from './gifts/reads.ts'
import { giftsSlice } from './gifts/slice.ts'
import type { Slice } from './http/slice.ts'
import { peopleSlice } from './people/slice.ts'
import { privilegeSlice } from './privilege/slice.ts'
import { roomsWith } from './rooms/slice.ts'
import { activeGame, checkSpin } from './roulette/reads.ts'
import { rouletteSlice } from './roulette/slice.ts'
import { verifyWith } from './verify/slice.ts'
import { walletSlice } from './wallet/slice.ts'

// Slices do not know each other. What one shows of another is handed over here.
export const roomsSlice = roomsWith(activeGame)
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
]
