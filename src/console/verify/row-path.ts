/** Where the pages of a table's rows are; each ends with the row's id. */
const pages: Readonly<Record<string, string>> = {
  balances: '/console/accounts',
  holds: '/console/accounts',
  users: '/console/users',
  bag_counts: '/console/users',
  card_counts: '/console/users',
  privileges: '/console/users',
  withdrawals: '/console/withdrawals',
  roulette_games: '/console/games',
  proposals: '/console/proposals',
  decorations: '/console/catalogue/gifts',
  privilege_packages: '/console/catalogue/packages',
  countries: '/console/catalogue/countries',
  app_releases: '/console/catalogue/releases',
  month_closings: '/console/reports',
  // Their ids are the positions of the events that made them.
  privilege_cards: '/console/events',
  instant_transfers: '/console/events',
}

/** The page of a row that was found wrong; undefined where its table has none. */
export function rowPath(table: string, id: string): string | undefined {
  if (table === 'app_modes') return '/console/catalogue/app-mode'
  // A row for each user and gift.
  if (table === 'bag_items') return `/console/users/${id.split(':', 1)[0]}`
  const page = pages[table]
  return page === undefined ? undefined : `${page}/${id}`
}
