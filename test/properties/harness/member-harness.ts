import { joinRoom } from '../../../src/features/rooms/members/join-room.ts'
import { leaveRoom } from '../../../src/features/rooms/members/leave-room.ts'
import { recordMembers } from '../../../src/features/rooms/members/record-members.ts'
import { removeMember } from '../../../src/features/rooms/members/remove-member.ts'
import { seats } from '../../../src/features/roulette/seats/seats.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import type { TestExecutor } from '../../harness/ledger/test-executor.ts'
import { MEMBERS, type MemberStep } from '../steps/member-steps.ts'

const leave = leaveRoom(seats)
const remove = removeMember(seats)
const candidates = MEMBERS.flatMap(([room_id, users]) => users.map((user_id) => ({ room_id, user_id })))

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
    case 'record members':
      return run(recordMembers, { candidates }, { key })
  }
}
