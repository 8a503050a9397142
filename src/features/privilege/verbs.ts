import { Type } from '@sinclair/typebox'
import { Id } from '../../../schema/common.ts'
import { type Language, LocalizedName } from '../../../schema/languages.ts'
import {
  GrantCards as GrantFields,
  DefinePackage as PackageFields,
  type PackageRecord,
  type PackageResource,
  type WalletCard,
} from '../../../schema/privilege.ts'
import { givenName, nameIn } from '../../language/names.ts'
import { ExpectedVersion, inputSchema, messageOnly, registerVerb } from '../../ledger/executor/command.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { assetUrl } from '../asset-url.ts'
import { nameCoveredVerb, registerCovered } from '../proposals/register-covered.ts'
import type { Settings } from '../services.ts'
import { grantCards, type NamedCard, storedCardCount, transferCard } from './card.ts'
import { definePackage, type PrivilegePackage, packages } from './package.ts'
import { activateCard } from './privilege.ts'

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
  activateCard: registerVerb('activate-card', ActivateCard, activateCard, {
    message: { en: 'The privilege is active.', ar: 'تم تفعيل الامتياز.' },
  }),
  transferCard: registerVerb(
    'transfer-card',
    TransferCard,
    transferCard,
    messageOnly({ en: 'The privilege was sent.', ar: 'تم إرسال الامتياز.' }),
  ),
  definePackage: registerVerb('define-package', DefinePackage, definePackage, {
    body: (defined) => ({ data: packageRecord(defined, settings.assetBaseUrl) }),
  }),
  grantCards: registerCovered(namedGrantCards, {
    status: 201,
    body: (cards, language) => ({ data: cards.map((card) => walletCard(card, settings.assetBaseUrl, language)) }),
  }),
})

export type PrivilegeVerbs = ReturnType<typeof privilegeVerbs>

/** A card as its owner sees it; `assetBaseUrl` has no trailing slash. */
export const walletCard = (card: NamedCard, assetBaseUrl: string, language: Language): WalletCard => ({
  id: card.card_id,
  privilege_package_id: card.privilege_package_id,
  privilege_package_name: nameIn(card, language),
  icon_path: card.icon_path,
  icon_url: assetUrl(card.icon_path, assetBaseUrl),
  valid_days: card.valid_days,
  created_at: isoMicros(card.created_at),
})

/** A package as clients see it. */
export const packageResource = (
  defined: PrivilegePackage,
  assetBaseUrl: string,
  language: Language,
): PackageResource => ({
  id: defined.privilege_package_id,
  name: nameIn(defined, language),
  rank: defined.rank,
  valid_days: defined.valid_days,
  icon_path: defined.icon_path,
  icon_url: assetUrl(defined.icon_path, assetBaseUrl),
})

/** A package as operators see it. */
export const packageRecord = (defined: PrivilegePackage, assetBaseUrl: string): PackageRecord => ({
  ...packageResource(defined, assetBaseUrl, 'en'),
  name: givenName(defined),
  created_at: isoMicros(defined.created_at),
})
