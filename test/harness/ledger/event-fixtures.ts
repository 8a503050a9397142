import type { EventData } from '../../../schema/events.ts'
import { account, type Currency, transfer } from '../../../src/ledger/rules/account.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'

/** Events that tests start with. */

export const userDefined = (
  user_id: number,
  others: Partial<EventData<'user-defined'>> = {},
): LedgerEvent<'user-defined'> => ({
  type: 'user-defined',
  data: {
    user_id,
    charging_agent: 0,
    allow_receive_withdraw_requests: 0,
    business_manager: 0,
    agency_countries: [],
    ...others,
  },
  movements: [],
})

export const roomDefined = (room_id: number, owner_id: number): LedgerEvent<'room-defined'> => ({
  type: 'room-defined',
  data: { room_id, owner_id },
  movements: [],
})

/** An account's initial balance. */
export const credited = (
  holder: 'user' | 'room',
  id: number,
  currency: Currency,
  amount: number,
): LedgerEvent<'balance-credited'> => ({
  type: 'balance-credited',
  data: { reason: 'opening' },
  movements: [transfer(account('issuance', 'operator', currency), account(holder, id, currency), amount)],
})

export const packageDefined = (
  privilege_package_id: number,
  rank: number,
  valid_days: number,
): LedgerEvent<'privilege-package-defined'> => ({
  type: 'privilege-package-defined',
  data: { privilege_package_id, name: `Package ${privilege_package_id}`, rank, valid_days, icon_path: 'p.png' },
  movements: [],
})

/** A card, whose id is the position of this event. */
export const cardGranted = (
  user_id: number,
  privilege_package_id: number,
  valid_days: number,
): LedgerEvent<'card-granted'> => ({
  type: 'card-granted',
  data: { user_id, privilege_package_id, valid_days, reason: 'opening' },
  movements: [],
})
