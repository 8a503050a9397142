import { Type } from '@sinclair/typebox'
import { Amount, Bit, Dollars, dataOf, Person } from './common.ts'
import { BagItem } from './gifts.ts'
import { named } from './named.ts'
import { ActivePrivilege } from './privilege.ts'

/** All that a user holds. Coins, diamonds and target points are whole numbers, dollars have two decimals. */
export const Wallet = dataOf(
  named(
    'Wallet',
    Type.Object({
      user: named(
        'WalletUser',
        Type.Composite([
          Person,
          Type.Object({ charging_agent: Bit, allow_receive_withdraw_requests: Bit, business_manager: Bit }),
        ]),
      ),
      coins: Amount,
      diamonds: Amount,
      target: Amount,
      wallet_dollars_count: Dollars,
      wallet_agent_dollars_count: Dollars,
      pending_dollars: Dollars,
      pending_agent_dollars: Dollars,
      available_dollars: Dollars,
      available_agent_dollars: Dollars,
      privilege: ActivePrivilege,
      bag: Type.Array(BagItem),
    }),
  ),
)
