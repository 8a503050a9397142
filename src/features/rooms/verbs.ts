import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { inputSchema, messageOnly, registerVerb } from '../../ledger/executor/command.ts'
import { defineRoom } from './define-room.ts'
import { joinRoom } from './members/join-room.ts'
import { leaveRoom } from './members/leave-room.ts'
import { removeMember } from './members/remove-member.ts'
import type { Seats } from './members/seats.ts'
import { roomMessages } from './messages.ts'
import { roomRecord } from './presenters.ts'

const DefineRoom = inputSchema(
  Type.Object({
    id: Id,
    uid: Type.Optional(Type.String()),
    name: Type.Optional(Type.String()),
    cover_url: Type.Optional(Type.String()),
    owner_id: Type.Optional(Id),
  }),
)

const JoinRoom = inputSchema(Type.Object({ caller_id: Id, room_id: Id }))

const LeaveRoom = inputSchema(Type.Object({ caller_id: Id, room: Type.Union([Id, Type.String()]) }))

const RemoveMember = inputSchema(Type.Object({ room_id: Id, user_id: Id }))

/** The verbs of rooms. */
export const roomVerbs = (seats: Seats) => ({
  defineRoom: registerVerb('define-room', DefineRoom, defineRoom, {
    body: ({ room, profile }) => ({ data: roomRecord(room, profile) }),
  }),
  joinRoom: registerVerb('join-room', JoinRoom, joinRoom),
  leaveRoom: registerVerb('leave-room', LeaveRoom, leaveRoom(seats), messageOnly(roomMessages.left)),
  removeMember: registerVerb('remove-member', RemoveMember, removeMember(seats), messageOnly(roomMessages.removed)),
})

export type RoomVerbs = ReturnType<typeof roomVerbs>
