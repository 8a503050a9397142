import type { Kysely } from 'kysely'
import type { Tables } from '../../../db/tables.ts'
import { parseId } from '../../../ledger/rules/account.ts'
import { requiredChoice, requiredLine } from '../../forms/fields.ts'
import { numberIn } from '../../forms/values.ts'
import { formatCount, numberCell, textCell } from '../../frame/cells.ts'
import { reasonErrors, reasonField, type UserAct } from './user-act.ts'

/** The catalogue by name, which is bounded when gifts are defined. */
const gifts = (db: Kysely<Tables>) =>
  db
    .selectFrom('decorations')
    .select(['decoration_id', 'name', 'kind', 'price'])
    .orderBy('name')
    .orderBy('decoration_id')

/** Puts gifts into a bag. */
export const addToBagAct: UserAct = {
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
