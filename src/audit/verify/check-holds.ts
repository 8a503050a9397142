import { walletAccount } from '../../features/agency/accounts.ts'
import { withdrawals } from '../../features/agency/withdrawals/withdrawal.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import { holds } from '../../ledger/rules/account.ts'
import type { Findings } from '../finding.ts'

/** The amount on hold of each wallet must be the sum of its pending withdrawals. */
export function checkHolds(rows: ReplayState, findings: Findings): void {
  const pending = new Map<string, bigint>()
  for (const id of rows.ids(withdrawals)) {
    const request = rows.get(withdrawals, id)
    if (request?.status !== 'pending') continue
    const wallet = walletAccount(request.user_id, request.wallet)
    pending.set(wallet, (pending.get(wallet) ?? 0n) + BigInt(request.amount))
  }
  for (const account of new Set([...pending.keys(), ...rows.ids(holds)])) {
    const held = rows.get(holds, account)?.held ?? 0n
    const expected = pending.get(account) ?? 0n
    if (held === expected) continue
    findings.add({
      check: 'holds',
      position: null,
      account,
      message: `${held} of ${account} is on hold, but its pending requests sum to ${expected}`,
    })
  }
}
