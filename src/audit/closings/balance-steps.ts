import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { withdrawals } from '../../features/agency/withdrawals/withdrawal.ts'
import { ReplayState } from '../../ledger/replay/replay.ts'
import { currencyOf, isDebt, isSystem } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { parseStoredEvent } from '../../ledger/storage/stored-event.ts'
import { csvText, formatAmount, formatDecimal } from '../format.ts'
import { type AccountTotals, CurrencyTotals, isBalanced, readAccountTotals } from '../reports/account-totals.ts'
import type { QueryContext } from '../reports/query-context.ts'
import { readEntries } from '../reports/write-export.ts'
import { sealBefore } from '../seals/seal-before.ts'
import { replayedTables } from '../verify/draws/draw-checks.ts'
import { HashedFile, writeHashed } from './files.ts'
import { type ListedAccounts, type StepTask, type StepWork, tableOf } from './step.ts'

const COLUMNS = ['opening', 'debits', 'credits', 'closing'] as const
const ACCOUNTS_HEADER = `account,currency,${COLUMNS.join(',')}\n`

const amountsOf = (totals: AccountTotals, format: (currency: string, amount: bigint) => string): string[] => {
  const currency = currencyOf(totals.account)
  return COLUMNS.map((column) => format(currency, totals[column]))
}

const accountLine = (totals: AccountTotals): string =>
  `${csvText(totals.account)},${currencyOf(totals.account)},${amountsOf(totals, formatDecimal).join(',')}\n`

interface KindTotals {
  readonly kind: string
  readonly currency: string
  balance: bigint
  accounts: number
}

class AccountList implements ListedAccounts {
  readonly house: AccountTotals[] = []
  readonly overdrawn: AccountTotals[] = []

  add(totals: AccountTotals): void {
    const { account, closing } = totals
    if (isSystem(account)) this.house.push(totals)
    else if (isDebt(account) ? closing > 0n : closing < 0n) this.overdrawn.push(totals)
  }
}

/** As the trial balance of the same job listed them, or else read here. */
export async function listAccounts(
  { first, last, known }: StepTask,
  db: Kysely<Tables>,
  context: QueryContext,
): Promise<ListedAccounts> {
  if (known.accounts !== undefined) return known.accounts
  const listed = new AccountList()
  for await (const page of readAccountTotals(db, { first, last }, context)) for (const one of page) listed.add(one)
  return listed
}

/** Every account with its opening and closing balance, and their sums by kind: each currency must sum to zero. */
export const trialBalanceStep: StepWork = async ({ first, last, folder }, db, context) => {
  const accounts = await HashedFile.create(folder, 'accounts.csv.gz')
  await accounts.write(ACCOUNTS_HEADER)
  const kinds = new Map<string, KindTotals>()
  const totals = new CurrencyTotals()
  const listed = new AccountList()
  for await (const page of readAccountTotals(db, { first, last }, context)) {
    for (const one of page) {
      totals.add(one)
      listed.add(one)
      const currency = currencyOf(one.account)
      const kind = one.account.slice(0, one.account.indexOf(':'))
      const key = `${currency} ${kind}`
      const sum = kinds.get(key) ?? { kind, currency, balance: 0n, accounts: 0 }
      sum.balance += one.closing
      sum.accounts += 1
      kinds.set(key, sum)
    }
    await accounts.write(page.map(accountLine).join(''))
  }
  const lines = [...kinds.values()].map(
    ({ currency, kind, balance, accounts: count }) =>
      `${currency},${kind},${formatDecimal(currency, balance)},${count}\n`,
  )
  const file = await writeHashed(folder, 'trial-balance.csv', `currency,kind,balance,accounts\n${lines.join('')}`)
  const wrong = totals.all.filter((total) => !isBalanced(total)).map(({ account: currency }) => currency)
  const rows = [...kinds.values()].map(({ currency, kind, balance, accounts: count }) => [
    currency,
    kind,
    formatAmount(currency, balance),
    count.toLocaleString('en'),
  ])
  return {
    passed: wrong.length === 0,
    result: tableOf(
      wrong.length === 0 ? 'Every currency sums to zero.' : `Not zero: ${wrong.join(', ')}.`,
      ['currency', 'kind', 'balance', 'accounts'],
      rows,
    ),
    files: [file, await accounts.close()],
    known: { accounts: listed },
  }
}

/** What the platform took in, paid out and issued. */
export const houseAccountsStep: StepWork = async (task, db, context) => {
  const { house } = await listAccounts(task, db, context)
  const file = await writeHashed(task.folder, 'house-accounts.csv', ACCOUNTS_HEADER + house.map(accountLine).join(''))
  return {
    passed: true,
    result: tableOf(
      `${house.length} accounts of the house, of issuance and of purchases.`,
      ['account', ...COLUMNS],
      house.map((totals) => [totals.account, ...amountsOf(totals, formatAmount)]),
    ),
    files: [file],
  }
}

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

const CHANGES_OF_WITHDRAWALS = `'withdrawal-requested', 'withdrawal-status-changed'`

/** Requests that were pending or approved when the month ended, oldest first: what is still owed. */
export const openWithdrawalsStep: StepWork = async ({ url, first, last, folder }, db, context) => {
  await using closing = new AsyncDisposableStack()
  const seal = await sealBefore(db, first - 1, context, closing, withdrawals.name)
  const open = new Map<number, OpenRequest>()
  using sealed = new ReplayState({ tables: replayedTables, base: seal?.tables ?? new Map() })
  for (const [, request] of sealed.rows(withdrawals)) {
    const { withdrawal_id: id, user_id, target_id, wallet: currency, amount, status, created_at } = request
    if (status !== 'pending' && status !== 'approved') continue
    open.set(id, { id, user_id, target_id, currency, amount, requested_at: isoMicros(created_at), status })
  }
  const period = { first: (seal?.last.position ?? 0) + 1, last }
  for await (const page of readEntries(url, period, context, `e.type in (${CHANGES_OF_WITHDRAWALS})`)) {
    for (const entry of page) {
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
  const requests = [...open.values()].sort((a, b) => a.id - b.id)
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
