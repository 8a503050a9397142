import type { EventData, EventType } from '../../../schema/events.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { LiveQuery } from '../../realtime/frames/frame-mapper.ts'
import { findWallets } from './reads.ts'

/** Users whose wallets an event may change in another way than by its movements. */
const otherUsersByType: { readonly [T in EventType]?: (data: EventData<T>) => readonly number[] } = {
  'user-defined': ({ user_id }) => [user_id],
  'bag-items-added': ({ user_id }) => [user_id],
  'gift-sent': ({ sender_id, from_bag }) => (from_bag ? [sender_id] : []),
  'gift-drawn': ({ sender_id, from_bag }) => (from_bag ? [sender_id] : []),
  'privilege-days-added': ({ user_id }) => [user_id],
  'privilege-replaced': ({ user_id }) => [user_id],
  // Holds change what is available without a movement.
  'withdrawal-requested': ({ user_id }) => [user_id],
  'withdrawal-status-changed': ({ user_id }) => [user_id],
}

/** The wallet, in the form of GET /wallet. */
export const liveWallet: LiveQuery = {
  event: 'wallet-changed',
  changedBy: (event) => [...new Set([...usersWithMovements(event), ...otherUsers(event)])],
  read: findWallets,
}

function otherUsers<T extends EventType>({ type, data }: PositionedEvent<T>): readonly number[] {
  const of: T = type
  return otherUsersByType[of]?.(data) ?? []
}

/** The users whose balances the event moves. */
const usersWithMovements = ({ movements }: PositionedEvent): number[] =>
  movements.flatMap(({ debit, credit }) => [debit, credit].filter(isUserAccount).map(userIdOf))

const USER_PREFIX = 'user:'
const isUserAccount = (account: string): boolean => account.startsWith(USER_PREFIX)
const userIdOf = (account: string): number =>
  Number(account.slice(USER_PREFIX.length, account.indexOf(':', USER_PREFIX.length)))
