import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import type { RoomRecord } from '../../../schema/rooms.ts'
import { inputSchema, messageOnly, registerVerb } from '../../ledger/executor/command.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { defineRoom } from './define-room.ts'
import { joinRoom, leaveRoom, removeMember, type Seats } from './member.ts'
import type { Room, RoomProfile } from './room.ts'

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
  leaveRoom: registerVerb(
    'leave-room',
    LeaveRoom,
    leaveRoom(seats),
    messageOnly({ en: 'You have left the room.', ar: 'غادرت الغرفة.' }),
  ),
  removeMember: registerVerb(
    'remove-member',
    RemoveMember,
    removeMember(seats),
    messageOnly({ en: 'The member is removed from the room.', ar: 'أُزيل العضو من الغرفة.' }),
  ),
})

export type RoomVerbs = ReturnType<typeof roomVerbs>

/** A room as operators see one. */
export const roomRecord = (
  room: Pick<Room, 'room_id' | 'owner_id' | 'trophy_points'>,
  profile: Pick<RoomProfile, 'uid' | 'name' | 'cover_url' | 'created_at'>,
): RoomRecord => ({
  id: room.room_id,
  uid: profile.uid,
  name: profile.name,
  cover_url: profile.cover_url,
  owner_id: room.owner_id,
  trophy_points: room.trophy_points,
  created_at: isoMicros(profile.created_at),
})
