import { giftsSlice } from './gifts/slice.ts'
import type { Slice } from './http/slice.ts'
import { peopleSlice } from './people/slice.ts'
import { privilegeSlice } from './privilege/slice.ts'
import { roomsSlice } from './rooms/slice.ts'
import { walletSlice } from './wallet/slice.ts'

/** The one list of slices. */
export const slices: readonly Slice[] = [peopleSlice, roomsSlice, walletSlice, giftsSlice, privilegeSlice]
