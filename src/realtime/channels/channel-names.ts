/**
 * A channel inside the service: a room's members, a user or everyone. By id, since a room's uid may change; clients
 * know a room's channel as `one-to-room:{uid}`.
 */
export type ChannelKey = `room:${number}` | `user:${number}` | 'global'

/** A channel as a client names it. */
export type NamedChannel =
  | { readonly kind: 'room'; readonly uid: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'global' }

const ROOM = 'one-to-room:'
const USER = 'user:'

/** Undefined when the name is of no known kind. */
export function parseChannelName(name: string): NamedChannel | undefined {
  if (name === 'global') return { kind: 'global' }
  if (name.startsWith(ROOM) && name.length > ROOM.length) return { kind: 'room', uid: name.slice(ROOM.length) }
  if (name.startsWith(USER)) return { kind: 'user', id: name.slice(USER.length) }
  return undefined
}

export const userChannel = (userId: number): ChannelKey => `user:${userId}`
const ROOM_KEY = 'room:'
export const roomChannel = (roomId: number): ChannelKey => `room:${roomId}`
/** The room of a channel; null for one that is not of a room. */
export const roomIdOf = (key: ChannelKey): number | null =>
  key.startsWith(ROOM_KEY) ? Number(key.slice(ROOM_KEY.length)) : null
