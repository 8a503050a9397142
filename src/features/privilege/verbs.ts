import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { LocalizedName } from '../../../schema/languages.ts'
import { GrantCards as GrantFields, DefinePackage as PackageFields } from '../../../schema/privilege.ts'
import { ExpectedVersion, inputSchema, messageOnly, registerVerb } from '../../ledger/executor/command.ts'
import { nameCoveredVerb, registerCovered } from '../proposals/register-covered.ts'
import type { Settings } from '../services.ts'
import { activateCard } from './activate.ts'
import { storedCardCount } from './card.ts'
import { grantCards } from './grant.ts'
import { privilegeMessages } from './messages.ts'
import { definePackage } from './packages/define-package.ts'
import { packages } from './packages/package.ts'
import { packageRecord, walletCard } from './presenters.ts'
import { transferCard } from './transfer.ts'

const ActivateCard = inputSchema(Type.Object({ caller_id: Id, card_id: Id }))
const TransferCard = inputSchema(Type.Object({ caller_id: Id, card_id: Id, receiver_id: Id }))

const DefinePackage = inputSchema(
  Type.Object({
    privilege_package_id: Id,
    name: Type.Optional(LocalizedName),
    rank: PackageFields.properties.rank,
    valid_days: PackageFields.properties.valid_days,
    icon_path: Type.Optional(Type.String()),
    expected: ExpectedVersion,
  }),
)

const GrantCards = inputSchema(
  Type.Object({
    user_id: Id,
    privilege_package_id: Id,
    quantity: GrantFields.properties.quantity,
    reason: Type.String(),
  }),
)

const namedGrantCards = nameCoveredVerb('grant-cards', GrantCards, {
  verb: grantCards,
  describe: ({ user_id, reason }) => ({ action: 'cards', subject: `user:${user_id}`, reason }),
  grant: (state, { user_id, quantity }) => ({
    limit: 'cards',
    amount: BigInt(quantity),
    account: `user:${user_id}:cards`,
    before: storedCardCount(state, user_id),
    quantity,
  }),
  terms: (state, { privilege_package_id }) => {
    const granted = state.get(packages, String(privilege_package_id))
    return granted === undefined ? {} : { valid_days: granted.valid_days, rank: granted.rank }
  },
})

export const coveredPrivilegeVerbs = [namedGrantCards] as const

/** The verbs of the privilege wallet. */
export const privilegeVerbs = (settings: Settings) => ({
  activateCard: registerVerb('activate-card', ActivateCard, activateCard, { message: privilegeMessages.activated }),
  transferCard: registerVerb('transfer-card', TransferCard, transferCard, messageOnly(privilegeMessages.sent)),
  definePackage: registerVerb('define-package', DefinePackage, definePackage, {
    body: (defined) => ({ data: packageRecord(defined, settings.assetBaseUrl) }),
  }),
  grantCards: registerCovered(namedGrantCards, {
    status: 201,
    body: (cards, language) => ({ data: cards.map((card) => walletCard(card, settings.assetBaseUrl, language)) }),
  }),
})

export type PrivilegeVerbs = ReturnType<typeof privilegeVerbs>
