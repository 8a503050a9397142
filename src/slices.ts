import { giftsSlice } from './gifts/slice.ts'
import type { Slice } from './http/slice.ts'
import { peopleSlice } from './people/slice.ts'
import { roomsWith } from './rooms/slice.ts'
import { activeGame } from './roulette/reads.ts'
import { rouletteSlice } from './roulette/slice.ts'
import { walletSlice } from './wallet/slice.ts'

/** A room shows its open game; slices do not know each other, so it is handed over here. */
export const roomsSlice = roomsWith(activeGame)

/** The one list of slices. */
export const slices: readonly Slice[] = [peopleSlice, roomsSlice, walletSlice, giftsSlice, rouletteSlice]
