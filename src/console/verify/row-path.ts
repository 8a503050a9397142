import { type PageKind, pagePath } from '../frame/links.ts'

/** What has a page for each row of a table, by its id. */
const kinds: Readonly<Record<string, PageKind>> = {
  balances: 'account',
  holds: 'account',
  users: 'user',
  bag_counts: 'user',
  card_counts: 'user',
  privileges: 'user',
  withdrawals: 'withdrawal',
  roulette_games: 'game',
  proposals: 'proposal',
  decorations: 'gift',
  privilege_packages: 'package',
  countries: 'country',
  app_releases: 'release',
  month_closings: 'month',
  // Their ids are the positions of the events that made them.
  privilege_cards: 'event',
  instant_transfers: 'event',
}

/** The page of a row that was found wrong; undefined where its table has none. */
export function rowPath(table: string, id: string): string | undefined {
  if (table === 'app_modes') return '/console/catalogue/app-mode'
  // A row for each user and gift.
  if (table === 'bag_items') return pagePath('user', id.split(':', 1)[0] ?? '')
  const kind = kinds[table]
  return kind && pagePath(kind, id)
}
