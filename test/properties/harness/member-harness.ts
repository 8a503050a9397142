import { defineRoom } from '../../../src/features/rooms/define-room.ts'
import { joinedEvent, joinRoom, leaveRoom, memberKeys, removeMember } from '../../../src/features/rooms/member.ts'
import { rooms } from '../../../src/features/rooms/room.ts'
import { seats } from '../../../src/features/roulette/seats.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import { isRefusal } from '../../../src/ledger/rules/verb.ts'
import type { TestExecutor } from '../../harness/ledger/test-executor.ts'
import { MEMBERS, type MemberStep } from '../steps/member-steps.ts'

const leave = leaveRoom(seats)
const remove = removeMember(seats)

/** Defines a room; a new one gets its first members with the same command. */
export const foundRoom: typeof defineRoom = {
  ...defineRoom,
  reads: (input) => [
    ...defineRoom.reads(input),
    ...firstMembers(input.id).flatMap((user) => memberKeys(input.id, user)),
  ],
  decide: (state, input, context) => {
    const decided = defineRoom.decide(state, input, context)
    if (isRefusal(decided) || state.get(rooms, String(input.id)) !== undefined) return decided
    const others = firstMembers(input.id).filter((user) => user !== input.owner_id)
    return [...decided, ...others.map((user) => joinedEvent(input.id, user))]
  },
}

const firstMembers = (room: number): readonly number[] => MEMBERS.find(([id]) => id === room)?.[1] ?? []

export function runMemberStep({ run }: TestExecutor, step: MemberStep, key: string): Promise<CommandResult> {
  const { user, room } = step
  const who = { actor: `user:${user}`, key }
  switch (step.does) {
    case 'join room':
      return run(joinRoom, { caller_id: user, room_id: room }, who)
    case 'leave room':
      return run(leave, { caller_id: user, room: `r${room}` }, who)
    case 'remove member':
      return run(remove, { room_id: room, user_id: user }, { actor: 'staff:ann', key })
  }
}
