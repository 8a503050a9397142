import { addressWith } from './address.ts'
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
  if (kind === 'user' || kind === 'settled') return pagePath('user', id)
  return kind === 'game' || kind === 'withdrawal' ? pagePath(kind, id) : undefined
}
