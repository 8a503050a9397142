import { isoMicros } from '../../../ledger/rules/time.ts'
import { parseStoredEvent } from '../../../ledger/storage/stored-event.ts'
import { readEntries } from '../../export/read-entries.ts'
import { formatAmount, formatDecimal } from '../../format.ts'
import { writeHashed } from '../hashed-file.ts'
import { tableOf } from '../step-state.ts'
import type { StepWork } from '../step-task.ts'

interface OpenRequest {
  readonly id: number
  readonly user_id: number
  readonly target_id: number
  readonly currency: string
  /** Cents. */
  readonly amount: number
  readonly requested_at: string
  readonly status: string
}

/** Requests that were pending or approved when the month ended, oldest first: what is still owed. */
export const openWithdrawalsStep: StepWork = async ({ url, last, folder }, _db, context) => {
  const open = new Map<number, OpenRequest>()
  for await (const page of readEntries(url, { first: 1, last }, context)) {
    for (const entry of page) {
      if (!entry.type.startsWith('withdrawal-')) continue
      const { type, data, position, at } = parseStoredEvent(entry)
      if (type === 'withdrawal-requested') {
        const { user_id, target_id, wallet, amount } = data
        open.set(position, {
          id: position,
          user_id,
          target_id,
          currency: wallet,
          amount,
          requested_at: isoMicros(at),
          status: 'pending',
        })
      } else if (type === 'withdrawal-status-changed') {
        const request = open.get(data.withdrawal_id)
        if (data.to !== 'approved') open.delete(data.withdrawal_id)
        else if (request !== undefined) open.set(request.id, { ...request, status: data.to })
      }
    }
  }
  const requests = [...open.values()]
  const lines = requests.map(
    ({ id, status, user_id, target_id, currency, amount, requested_at }) =>
      `${id},${status},${user_id},${target_id},${currency},${formatDecimal(currency, amount)},${requested_at}\n`,
  )
  const header = 'request,status,user,target,currency,amount,requested_at\n'
  const file = await writeHashed(folder, 'open-withdrawals.csv', header + lines.join(''))
  const approved = requests.filter(({ status }) => status === 'approved').length
  return {
    passed: true,
    result: tableOf(
      `${requests.length - approved} pending, ${approved} approved and not yet transferred.`,
      ['withdrawal', 'status', 'user', 'target', 'currency', 'amount', 'requested_at'],
      requests.map(({ id, status, user_id, target_id, currency, amount, requested_at }) => [
        String(id),
        status,
        String(user_id),
        String(target_id),
        currency,
        formatAmount(currency, BigInt(amount)),
        requested_at,
      ]),
    ),
    files: [file],
  }
}
