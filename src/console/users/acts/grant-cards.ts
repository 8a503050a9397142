import { MAX_STORED_CARDS } from '../../../features/privilege/card.ts'
import { packagesByRank } from '../../../features/privilege/reads.ts'
import { parseId } from '../../../ledger/rules/account.ts'
import { requiredChoice, requiredLine } from '../../forms/fields.ts'
import { numberIn } from '../../forms/values.ts'
import { formatCount, numberCell, textCell } from '../../frame/cells.ts'
import { reasonErrors, reasonField, type UserAct } from './user-act.ts'

const MAX_QUANTITY = 1_000

/** Grants privilege cards. */
export const grantCardsAct: UserAct = {
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
