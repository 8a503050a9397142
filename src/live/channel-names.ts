import type { ChannelKey } from './announcer.ts'

/** A channel as a client names it. */
export type NamedChannel =
  | { readonly kind: 'room'; readonly uid: string }
  | { readonly kind: 'user'; readonly id: string }
  | { readonly kind: 'global' }

const ROOM = 'one-to-room:'
const USER = 'user:'

/** What is in no room's uid; of these the database refuses some in any statement. */
const NOT_IN_UIDS = /[\p{Cc}\u202a-\u202e]/u

/** Undefined for what names no kind of channel. */
export function readChannel(name: string): NamedChannel | undefined {
  if (name === 'global') return { kind: 'global' }
  if (name.startsWith(ROOM)) {
    const uid = name.slice(ROOM.length).normalize('NFC')
    return uid === '' || !uid.isWellFormed() || NOT_IN_UIDS.test(uid) ? undefined : { kind: 'room', uid }
  }
  if (name.startsWith(USER)) return { kind: 'user', id: name.slice(USER.length) }
  return undefined
}

export const userChannel = (userId: number): ChannelKey => `user:${userId}`
export const roomChannel = (roomId: number): ChannelKey => `room:${roomId}`
