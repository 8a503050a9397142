import { currencyOf } from '../../../ledger/rules/account.ts'
import { isoMicros } from '../../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../../ledger/storage/event-hash.ts'
import { csvText } from '../../csv.ts'
import { readEntries } from '../../export/read-entries.ts'
import { formatAmount } from '../../format.ts'
import { readAccountTotals } from '../../reports/account-totals.ts'
import { HashedFile } from '../hashed-file.ts'
import { MAX_ROWS, tableOf } from '../step-state.ts'
import type { StepWork } from '../step-task.ts'

/** Events of staff without a movement that nevertheless give something. */
const GRANTS: readonly string[] = ['bag-items-added', 'card-granted']

/** What the staff moved or granted, each with its reason; one without, and an overdrawn account, have to be explained. */
export const exceptionsStep: StepWork = async ({ url, first, last, folder }, db, context) => {
  const file = await HashedFile.create(folder, 'exceptions.csv')
  await file.write('position,at,type,actor,reason,explained\n')
  const unexplained: string[][] = []
  const explained: string[][] = []
  let acts = 0
  for await (const page of readEntries(url, { first, last }, context)) {
    let lines = ''
    for (const entry of page) {
      if (!isActOfStaff(entry)) continue
      acts += 1
      const reason = reasonOf(entry)
      const isExplained = reason.trim() !== ''
      const { position, type, actor } = entry
      const at = isoMicros(entry.at)
      lines += `${position},${at},${type},${csvText(actor)},${csvText(reason)},${isExplained ? 'yes' : 'no'}\n`
      const rows = isExplained ? explained : unexplained
      if (rows.length < MAX_ROWS || !isExplained) rows.push([String(position), at, type, actor, reason])
    }
    await file.write(lines)
  }
  const overdrawn: string[][] = []
  for await (const page of readAccountTotals(db, { first, last }, context)) {
    for (const { account, closing } of page) {
      if (closing >= 0n || /^(house|issuance):/.test(account)) continue
      overdrawn.push(['', '', 'overdrawn', account, formatAmount(currencyOf(account), closing)])
    }
  }
  const found = overdrawn.length + unexplained.length
  const table = tableOf(
    found === 0
      ? `${acts} acts of staff that moved or granted something, all with a reason; no overdrawn account.`
      : `${unexplained.length} acts of staff without a reason, ${overdrawn.length} overdrawn accounts.`,
    ['position', 'at', 'type', 'account', 'reason'],
    [...overdrawn, ...unexplained, ...explained],
  )
  return {
    passed: found === 0,
    result: { ...table, more: Math.max(0, acts + overdrawn.length - table.rows.length) },
    files: [await file.close()],
  }
}

const isActOfStaff = ({ actor, movements, type }: LedgerEntry): boolean =>
  actor.startsWith('staff:') && (movements.length > 0 || GRANTS.includes(type))

/** The reason in an event's data; of events that need none, what they are. */
function reasonOf({ data, type }: LedgerEntry): string {
  const parsed: unknown = JSON.parse(data)
  if (typeof parsed !== 'object' || parsed === null || !('reason' in parsed)) return type
  return typeof parsed.reason === 'string' ? parsed.reason : ''
}
