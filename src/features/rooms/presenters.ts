import type { RoomRecord } from '../../../schema/operator.ts'
import type { RoomMember } from '../../../schema/rooms.ts'
import { isoMicros, type Micros } from '../../ledger/rules/time.ts'
import { assetUrl } from '../asset-url.ts'
import type { Room, RoomProfile } from './room.ts'

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

/** A member as other members see one. */
export const roomMember = (
  {
    user_id,
    joined_at,
    ...profile
  }: Omit<RoomMember, 'id' | 'avatar_url' | 'joined_at'> & { readonly user_id: number; readonly joined_at: Micros },
  assetBaseUrl: string,
): RoomMember => ({
  id: user_id,
  name: profile.name,
  uid: profile.uid,
  avatar: profile.avatar,
  avatar_url: assetUrl(profile.avatar, assetBaseUrl),
  joined_at: isoMicros(joined_at),
})
