import { type Kysely, sql } from 'kysely'
import { currencies } from '../../../schema/common.ts'
import type { Tables } from '../../db/tables.ts'
import { MAX_STORED_CARDS } from '../../features/privilege/card.ts'
import { packagesByRank } from '../../features/privilege/reads.ts'
import { amountRule, parseAmount } from '../../features/wallet/amount.ts'
import { account, type Currency, MAX_BALANCE, parseId } from '../../ledger/rules/account.ts'
import { isDollars } from '../../ledger/rules/money.ts'
import { amountCell, formatCount, formatUnits, formatWord, numberCell, textCell, wordCell } from '../layout/cells.ts'
import { numberIn, requiredChoice, requiredLine, type Values } from '../layout/fields.ts'
import { accountPath } from '../layout/links.ts'
import { readBalances } from './balances.ts'
import { type ActionField, type Change, reasonErrors, reasonField, type UserAction } from './user-action.ts'

const fields: readonly ActionField[] = [
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

const moveAction = (
  { sign, route, verb }: Direction,
  action: Pick<UserAction, 'path' | 'title' | 'lead' | 'done'>,
): UserAction => ({
  ...action,
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

export const creditAction = moveAction(
  { sign: 1n, route: 'credits', verb: 'Credit' },
  {
    path: 'credit',
    title: 'Credit',
    lead: 'Adds to a balance: new value is issued. A credit is taken back by a debit, and both stay on the ledger.',
    done: 'credited',
  },
)

export const debitAction = moveAction(
  { sign: -1n, route: 'debits', verb: 'Debit' },
  {
    path: 'debit',
    title: 'Debit',
    lead: 'Takes from a balance what is available: what is on hold for a withdrawal cannot be taken.',
    done: 'debited',
  },
)

const MAX_QUANTITY = 1_000

/** Grants privilege cards. */
export const grantCardsAction: UserAction = {
  path: 'grant-cards',
  title: 'Grant cards',
  lead: `Puts privilege cards into the user’s wallet, each of which may be activated or passed on. A wallet holds at most ${formatCount(MAX_STORED_CARDS)}.`,
  done: 'cards-granted',
  names: ['privilege_package_id', 'quantity', 'reason'],
  fieldsOf: async (db) => [
    requiredChoice(
      'privilege_package_id',
      'Package',
      (await packagesByRank(db)).map(({ privilege_package_id: id, name, rank, valid_days }) => [
        String(id),
        `${name} (id ${id}, rank ${rank}, ${valid_days} days)`,
      ]),
      'Packages are defined in the catalogue.',
    ),
    { ...requiredLine('quantity', 'Quantity', 5, `1 to ${formatCount(MAX_QUANTITY)}`), value: '1' },
    reasonField,
  ],
  async review(db, { user_id }, values) {
    const packages = await packagesByRank(db)
    const granted = packages.find(({ privilege_package_id: id }) => String(id) === values['privilege_package_id'])
    const quantity = parseId(values['quantity'] ?? '')
    const errors = {
      ...(granted === undefined ? { privilege_package_id: 'Choose one of the packages.' } : {}),
      ...(quantity === null || quantity > MAX_QUANTITY
        ? { quantity: `A whole number from 1 to ${formatCount(MAX_QUANTITY)}.` }
        : {}),
      ...reasonErrors(values['reason']),
    }
    if (granted === undefined || quantity === null || Object.keys(errors).length > 0) return { errors }
    const row = await db.selectFrom('card_counts').select('stored').where('user_id', '=', user_id).executeTakeFirst()
    const stored = row?.stored ?? 0
    if (stored + quantity > MAX_STORED_CARDS) {
      return {
        errors: { quantity: `The wallet has ${formatCount(stored)} cards and holds ${formatCount(MAX_STORED_CARDS)}.` },
      }
    }
    return {
      given: [
        ['Package', textCell(granted.name)],
        ['Days of each card', numberCell(granted.valid_days)],
        ['Quantity', numberCell(quantity)],
        ['Reason', textCell(values['reason'])],
      ],
      changes: [{ what: textCell('Stored cards'), from: numberCell(stored), to: numberCell(stored + quantity) }],
      button: quantity === 1 ? 'Grant 1 card' : `Grant ${formatCount(quantity)} cards`,
      limited: { limit: 'cards', amount: quantity },
    }
  },
  requestOf: (user, values) => ({
    method: 'POST',
    path: `/users/${user}/cards`,
    body: {
      privilege_package_id: numberIn(values['privilege_package_id']),
      quantity: numberIn(values['quantity']),
      reason: values['reason'],
    },
  }),
}

/** The catalogue by name, which is bounded when gifts are defined. */
const gifts = (db: Kysely<Tables>) =>
  db
    .selectFrom('decorations')
    .select(['decoration_id', 'name', 'kind', 'price'])
    .orderBy('name')
    .orderBy('decoration_id')

/** Puts gifts into a bag. */
export const addToBagAction: UserAction = {
  path: 'add-to-bag',
  title: 'Add to bag',
  lead: 'Puts gifts into the user’s bag, from where they are sent without paying for them.',
  done: 'bag-filled',
  names: ['decoration_id', 'quantity', 'reason'],
  fieldsOf: async (db) => [
    requiredChoice(
      'decoration_id',
      'Gift',
      (await gifts(db).execute()).map(({ decoration_id: id, name, kind, price }) => [
        String(id),
        `${name} (id ${id}, ${kind}, ${formatCount(price)} diamonds)`,
      ]),
      'Gifts are defined in the catalogue.',
    ),
    { ...requiredLine('quantity', 'Quantity', 16, 'A whole number from 1'), value: '1' },
    reasonField,
  ],
  async review(db, { user_id }, values) {
    const id = parseId(values['decoration_id'] ?? '')
    const quantity = parseId(values['quantity'] ?? '')
    const gift = id === null ? undefined : await gifts(db).where('decoration_id', '=', id).executeTakeFirst()
    const errors = {
      ...(gift === undefined ? { decoration_id: 'Choose one of the gifts.' } : {}),
      ...(quantity === null ? { quantity: 'A whole number from 1.' } : {}),
      ...reasonErrors(values['reason']),
    }
    if (gift === undefined || quantity === null || Object.keys(errors).length > 0) return { errors }
    const item = await db
      .selectFrom('bag_items')
      .select('quantity')
      .where('user_id', '=', user_id)
      .where('decoration_id', '=', gift.decoration_id)
      .executeTakeFirst()
    const held = item?.quantity ?? 0
    return {
      given: [
        ['Gift', textCell(gift.name)],
        ['Quantity', numberCell(quantity)],
        ['Worth in diamonds', numberCell(BigInt(quantity) * BigInt(gift.price))],
        ['Reason', textCell(values['reason'])],
      ],
      changes: [
        {
          what: textCell(`In the bag: ${gift.name}`),
          from: numberCell(held),
          to: numberCell(BigInt(held) + BigInt(quantity)),
        },
      ],
      button: quantity === 1 ? 'Add 1 gift' : `Add ${formatCount(quantity)} gifts`,
      limited: { limit: 'bag', amount: quantity * gift.price },
    }
  },
  requestOf: (user, values) => ({
    method: 'POST',
    path: `/users/${user}/bag`,
    body: {
      decoration_id: numberIn(values['decoration_id']),
      quantity: numberIn(values['quantity']),
      reason: values['reason'],
    },
  }),
}
