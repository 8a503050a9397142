import type { Language } from '../../../schema/languages.ts'
import type { PackageRecord, PackageResource, WalletCard } from '../../../schema/privilege.ts'
import { givenName, nameIn } from '../../language/names.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { assetUrl } from '../asset-url.ts'
import type { NamedCard } from './card.ts'
import type { PrivilegePackage } from './packages/package.ts'

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
