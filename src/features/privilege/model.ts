import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { cardCounts, cards, evolveCards } from './card.ts'
import { evolvePackages, packages } from './packages/package.ts'
import { evolvePrivileges, privileges } from './privilege.ts'

const tables = [
  rowTable(packages, { key: ['privilege_package_id'] }),
  rowTable(cards, { key: ['card_id'] }),
  rowTable(cardCounts, { key: ['user_id'] }),
  rowTable(privileges, { key: ['user_id'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Privilege packages, the cards of these packages, and active privileges. */
export const privilegeModel: Model = {
  evolvers: [evolvePackages, evolveCards, evolvePrivileges],
  tables,
  refusals: {
    not_your_card: { status: 403, message: 'This card belongs to another user.' },
    not_card_owner: { status: 422, message: 'Only the owner of a card can send it.' },
    card_already_activated: { status: 422, message: 'This card is already activated.' },
    same_user: { status: 422, message: 'You cannot send a card to yourself.' },
    too_few_days: { status: 422, message: 'This card would add less than one day to the running privilege.' },
    validity_limit: { status: 422, message: 'The privilege would last beyond the year 9999.' },
  },
}
