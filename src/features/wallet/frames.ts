import type { EventData, EventType } from '../../../schema/events.ts'
import type { PositionedEvent } from '../../ledger/rules/event.ts'
import type { ShownState } from '../../realtime/frames/announcer.ts'
import { walletsOf } from './reads.ts'

/** Whose wallet an event may change beside the balances that it moves. */
const others: { readonly [T in EventType]?: (data: EventData<T>) => readonly number[] } = {
  'user-defined': ({ user_id }) => [user_id],
  'bag-items-added': ({ user_id }) => [user_id],
  'gift-sent': ({ sender_id, from_bag }) => (from_bag ? [sender_id] : []),
  'gift-drawn': ({ sender_id, from_bag }) => (from_bag ? [sender_id] : []),
  'privilege-days-added': ({ user_id }) => [user_id],
  'privilege-replaced': ({ user_id }) => [user_id],
  // What is on hold moves nothing.
  'withdrawal-requested': ({ user_id }) => [user_id],
  'withdrawal-status-changed': ({ user_id }) => [user_id],
}

/** The wallet, in the form of GET /wallet. */
export const shownWallet: ShownState = {
  event: 'wallet-changed',
  changedBy: (event) => [...new Set([...holders(event), ...beside(event)])],
  read: walletsOf,
}

function beside<T extends EventType>({ type, data }: PositionedEvent<T>): readonly number[] {
  const of: T = type
  return others[of]?.(data) ?? []
}

/** The users whose balances moved. */
const holders = ({ movements }: PositionedEvent): number[] =>
  movements.flatMap(({ debit, credit }) => [debit, credit].filter(isUsers).map(holderOf))

const USER = 'user:'
const isUsers = (account: string): boolean => account.startsWith(USER)
const holderOf = (account: string): number => Number(account.slice(USER.length, account.indexOf(':', USER.length)))
