import type { UserProfile } from './user.ts'

const FORGOTTEN_UID_PREFIX = 'forgotten-'

/** A neutral uid. Random, so that it cannot be taken in advance; `random` is 32 hex digits. */
export const forgottenUid = (random: string): string => `${FORGOTTEN_UID_PREFIX}${random}`

const isForgottenUid = (uid: string): boolean =>
  uid.startsWith(FORGOTTEN_UID_PREFIX) && /^[0-9a-f]{32}$/.test(uid.slice(FORGOTTEN_UID_PREFIX.length))

/** Whether nothing of a profile identifies a person any more. */
export const isForgotten = ({ name, avatar, uid }: Pick<UserProfile, 'name' | 'avatar' | 'uid'>): boolean =>
  name === '' && avatar === '' && isForgottenUid(uid)
