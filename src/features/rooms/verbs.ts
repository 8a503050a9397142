import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { inputSchema, registerVerb } from '../../ledger/executor/registry/registered-verb.ts'
import { defineRoom } from './define-room.ts'
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

/** The verbs of rooms. */
export const roomVerbs = () => ({
  defineRoom: registerVerb('define-room', DefineRoom, defineRoom, {
    body: ({ room, profile }) => ({ data: roomRecord(room, profile) }),
  }),
})
