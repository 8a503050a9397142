import type { ChannelKey } from '../frames/frame-mapper.ts'

/** A channel as a client names it. */
export type NamedChannel =
  | { readonly kind: 'room'; readonly uid: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'global' }

const ROOM = 'one-to-room:'
const USER = 'user:'

/** Undefined for what names no kind of channel. */
export function parseChannelName(name: string): NamedChannel | undefined {
  if (name === 'global') return { kind: 'global' }
  if (name.startsWith(ROOM) && name.length > ROOM.length) return { kind: 'room', uid: name.slice(ROOM.length) }
  if (name.startsWith(USER)) return { kind: 'user', id: name.slice(USER.length) }
  return undefined
}

export const userChannel = (userId: number): ChannelKey => `user:${userId}`
export const roomChannel = (roomId: number): ChannelKey => `room:${roomId}`
