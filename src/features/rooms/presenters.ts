import type { RoomRecord } from '../../../schema/operator.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { Room, RoomProfile } from './room.ts'

/** A room as operators see one. */
export const roomRecord = (
  room: Room,
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
