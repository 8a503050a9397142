import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import type { Model } from '../model.ts'
import { cardCounts, cards, evolveCards } from './card.ts'
import { privilegeMessages } from './messages.ts'
import { privilegeNotifications } from './notifications.ts'
import { evolvePackages, packageCounts, packages } from './packages/package.ts'
import { evolvePrivileges, privileges } from './privilege.ts'

const tables = [
  rowTable(packages, { key: ['privilege_package_id'] }),
  rowTable(packageCounts, { key: ['list'] }),
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
  notifications: privilegeNotifications,
  tables,
  refusals: {
    not_your_card: { status: 403, message: privilegeMessages.not_your_card },
    not_card_owner: { status: 422, message: privilegeMessages.not_card_owner },
    card_already_activated: { status: 422, message: privilegeMessages.card_already_activated },
    same_user: { status: 422, message: privilegeMessages.same_user },
    too_few_days: { status: 422, message: privilegeMessages.too_few_days },
    validity_limit: { status: 422, message: privilegeMessages.validity_limit },
  },
}
