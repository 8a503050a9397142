import { type Kysely, sql } from 'kysely'
import { currencies } from '../../../../schema/common.ts'
import type { Tables } from '../../../db/tables.ts'
import { amountRule, parseAmount } from '../../../features/wallet/amount.ts'
import { account, type Currency, MAX_BALANCE } from '../../../ledger/rules/account.ts'
import { isDollars } from '../../../ledger/rules/money.ts'
import { requiredChoice, requiredLine } from '../../forms/fields.ts'
import { numberIn, type Values } from '../../forms/values.ts'
import { amountCell, formatUnits, formatWord, textCell, wordCell } from '../../frame/cells.ts'
import { accountPath } from '../../frame/links.ts'
import { readBalances } from '../balances.ts'
import { type ActField, type Change, reasonErrors, reasonField, type UserAct } from './user-act.ts'

const fields: readonly ActField[] = [
  requiredChoice(
    'currency',
    'Currency',
    currencies.map((currency) => [currency, formatWord(currency)]),
  ),
  requiredLine('amount', 'Amount', 32, 'A whole number; dollars may have cents: 12.50'),
  reasonField,
]

const names = fields.map(({ name }) => name)

/** As the route takes it: dollars as a text with their decimals, and whole units as a number. */
const amountOf = ({ currency = '', amount = '' }: Values): number | string =>
  isDollars(currency) ? amount : (numberIn(amount) ?? '')

async function balanceOf(db: Kysely<Tables>, name: string): Promise<bigint> {
  const row = await db
    .selectFrom('balances')
    .select(sql<string>`balance::text`.as('balance'))
    .where('account', '=', name)
    .executeTakeFirst()
  return BigInt(row?.balance ?? 0)
}

interface Direction {
  /** 1: to the user; -1: from the user. */
  readonly sign: 1n | -1n
  readonly route: 'credits' | 'debits'
  readonly verb: string
}

const moveAct = (
  { sign, route, verb }: Direction,
  act: Pick<UserAct, 'path' | 'title' | 'lead' | 'done'>,
): UserAct => ({
  ...act,
  names,
  fieldsOf: async () => fields,
  async review(db, user, values) {
    const currency = currencies.find((name) => name === values['currency'])
    const units = currency === undefined ? null : parseAmount(currency, amountOf(values))
    const errors = {
      ...(currency === undefined ? { currency: 'Choose one of the currencies.' } : {}),
      ...(currency !== undefined && units === null ? { amount: `The amount ${amountRule(currency).en}.` } : {}),
      ...reasonErrors(values['reason']),
    }
    if (currency === undefined || units === null || Object.keys(errors).length > 0) return { errors }
    const issuance = account('issuance', 'operator', currency)
    const [{ wallets }, issued] = await Promise.all([readBalances(db, user.user_id), balanceOf(db, issuance)])
    const wallet = wallets.find((one) => one.currency === currency)
    if (wallet === undefined) throw new Error(`there is no wallet of ${currency}`)
    const change = sign * BigInt(units)
    const shown = (amount: bigint): string => `${formatUnits(currency, amount)} ${formatWord(currency)}`
    if (wallet.available + change < 0n) {
      const held = wallet.held === 0n ? '' : `: ${shown(wallet.held)} are on hold`
      return { errors: { amount: `At most ${shown(wallet.available)} can be taken${held}.` } }
    }
    if (wallet.balance + change > MAX_BALANCE) return { errors: { amount: 'No balance can be that large.' } }
    return {
      given: [
        ['Amount', amountCell(currency, units)],
        ['Currency', wordCell(currency)],
        ['Reason', textCell(values['reason'])],
      ],
      changes: [
        changeOf(currency, wallet.account, wallet.balance, change),
        ...(wallet.held === 0n ? [] : [changeOf(currency, 'Can be spent', wallet.available, change)]),
        changeOf(currency, issuance, issued, -change),
      ],
      button: `${verb} ${shown(BigInt(units))}`,
      limited: { limit: currency, amount: units },
    }
  },
  requestOf: (user, values) => ({
    method: 'POST',
    path: `/users/${user}/${route}`,
    body: { currency: values['currency'], amount: amountOf(values), reason: values['reason'] },
  }),
})

const changeOf = (currency: Currency, name: string, from: bigint, change: bigint): Change => ({
  what: textCell(name, name.includes(':') ? accountPath(name) : undefined),
  from: amountCell(currency, from),
  to: amountCell(currency, from + change),
})

export const creditAct = moveAct(
  { sign: 1n, route: 'credits', verb: 'Credit' },
  {
    path: 'credit',
    title: 'Credit',
    lead: 'Adds to a balance: new value is issued. A credit is taken back by a debit, and both stay on the ledger.',
    done: 'credited',
  },
)

export const debitAct = moveAct(
  { sign: -1n, route: 'debits', verb: 'Debit' },
  {
    path: 'debit',
    title: 'Debit',
    lead: 'Takes from a balance what is available: what is on hold for a withdrawal cannot be taken.',
    done: 'debited',
  },
)
