import { type Cell, codeCell, textCell } from './cells.ts'

// Where numbers and names lead to.

/** Where the pages are of what has one, by the word for it. */
const pages = {
  account: '/console/accounts',
  event: '/console/events',
  user: '/console/users',
  withdrawal: '/console/withdrawals',
  proposal: '/console/proposals',
  game: '/console/games',
  draw: '/console/draws',
  month: '/console/reports',
  verification: '/console/verify',
  gift: '/console/catalogue/gifts',
  package: '/console/catalogue/packages',
  country: '/console/catalogue/countries',
  release: '/console/catalogue/releases',
} as const

export type PageKind = keyof typeof pages

export const pagePath = (kind: PageKind, id: number | string): string => `${pages[kind]}/${id}`

export const eventPath = (position: number): string => pagePath('event', position)

export const accountPath = (account: string): string => pagePath('account', account)

export const userPath = (id: number): string => pagePath('user', id)

/** 0 stands for the time before the first event. */
export const eventCell = (position: number | null): Cell =>
  position === null || position === 0 ? codeCell(null) : codeCell(String(position), eventPath(position))

export const accountCell = (account: string): Cell => codeCell(account, accountPath(account))

/** The id of something with a page. */
export const idCell = (kind: PageKind, id: number): Cell => codeCell(String(id), pagePath(kind, id))

/** A user by name and id; by the id alone where the name was erased. */
export const personCell = (id: number | null, name: string | null | undefined): Cell =>
  id === null ? textCell(null) : textCell(name ? `${name} (${id})` : `User ${id}`, userPath(id))

/** Who caused an event: `user:3`, `staff:ann`, `system`. */
export function actorCell(actor: string | null | undefined): Cell {
  const [kind, id = ''] = (actor ?? '').split(/:(.*)/s)
  if (kind === 'user') return codeCell(actor, pagePath('user', id))
  return kind === 'staff' ? codeCell(actor, addressWith('/console/staff', { sub: id })) : codeCell(actor)
}

/** The page of what an account belongs to; undefined where there is none. */
export function holderPath(account: string): string | undefined {
  const [kind, id = ''] = account.split(':')
  if (kind === 'user' || kind === 'debt' || kind === 'settled') return pagePath('user', id)
  return kind === 'game' || kind === 'withdrawal' ? pagePath(kind, id) : undefined
}

export type QueryValues = Readonly<Record<string, string | number | null | undefined>>

/** The address of a page with these parameters; absent ones are left out, so that equal pages have equal addresses. */
export function addressWith(path: string, values: QueryValues): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined && value !== '') query.append(name, String(value))
  }
  const text = query.toString()
  return text === '' ? path : `${path}?${text}`
}

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
