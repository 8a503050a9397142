import * as fc from 'fast-check'

/** A request about members of rooms, valid or not. */
export interface MemberStep {
  readonly does: 'join room' | 'leave room' | 'remove member'
  readonly user: number
  readonly room: number
}

/** Who becomes a member of a room when it is defined, besides its owner. */
export const MEMBERS: readonly (readonly [room: number, users: readonly number[]])[] = [
  [1, [1, 2, 3]],
  [2, [1, 4]],
  [3, [2]],
]

export const memberStep: fc.Arbitrary<MemberStep> = fc.record({
  does: fc.constantFrom('join room', 'join room', 'leave room', 'remove member'),
  user: fc.constantFrom(1, 2, 3, 4),
  room: fc.constantFrom(1, 1, 1, 2, 3),
})
