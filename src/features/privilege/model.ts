import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { cardCounts, cards, evolveCards } from './card.ts'
import { evolvePackages, packages } from './packages/package.ts'
import { evolvePrivileges, privileges } from './privilege.ts'

/** Privilege packages, the cards made of them, and the privileges that run. */
export const privilegeModel: Model = {
  evolvers: [evolvePackages, evolveCards, evolvePrivileges],
  tables: [
    rowTable(packages, {
      key: ['privilege_package_id'],
      columns: {
        privilege_package_id: 'integer',
        name: 'text',
        rank: 'integer',
        valid_days: 'integer',
        icon_path: 'text',
        created_at: 'micros',
      },
    }),
    rowTable(cards, {
      key: ['card_id'],
      columns: {
        card_id: 'integer',
        owner_id: 'integer',
        privilege_package_id: 'integer',
        valid_days: 'integer',
        activated: 'boolean',
        created_at: 'micros',
        entered: 'integer',
      },
    }),
    rowTable(cardCounts, { key: ['user_id'], columns: { user_id: 'integer', stored: 'integer' } }),
    rowTable(privileges, {
      key: ['user_id'],
      columns: { user_id: 'integer', privilege_package_id: 'integer', rank: 'integer', valid_until: 'integer' },
    }),
  ],
  refusals: {
    not_your_card: { status: 403, message: 'This card belongs to another user.' },
    not_card_owner: { status: 422, message: 'Only the owner of a card can send it.' },
    card_already_activated: { status: 422, message: 'This card is already activated.' },
    same_user: { status: 422, message: 'You cannot send a card to yourself.' },
    too_few_days: { status: 422, message: 'This card would add less than one day to the running privilege.' },
    validity_limit: { status: 422, message: 'The privilege would last beyond the year 9999.' },
  },
}
