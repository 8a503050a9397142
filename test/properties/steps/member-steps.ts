import * as fc from 'fast-check'

/** A request about members of rooms, valid or not. */
export interface MemberStep {
  readonly does: 'join room' | 'leave room' | 'remove member' | 'record members'
  readonly user: number
  readonly room: number
}

/** Who joined in the version before: members of rooms, whether those are there or not. */
export const MEMBERS: readonly (readonly [room: number, users: readonly number[]])[] = [
  [1, [1, 2, 3]],
  [2, [1, 4]],
  [3, [2]],
]

export const memberStep: fc.Arbitrary<MemberStep> = fc.record({
  does: fc.constantFrom('join room', 'join room', 'leave room', 'remove member', 'record members'),
  user: fc.constantFrom(1, 2, 3, 4),
  room: fc.constantFrom(1, 1, 1, 2, 3),
})
