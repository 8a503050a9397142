import { addressWith } from '../address.ts'
import { type Cell, codeCell, textCell } from './cells.ts'

// Where numbers and names lead to.

export const eventPath = (position: number): string => `/console/events/${position}`

export const accountPath = (account: string): string => `/console/accounts/${account}`

export const userPath = (id: number): string => `/console/users/${id}`

/** 0 stands for the time before the first event. */
export const eventCell = (position: number | null): Cell =>
  position === null || position === 0 ? codeCell(null) : codeCell(String(position), eventPath(position))

export const accountCell = (account: string): Cell => codeCell(account, accountPath(account))

/** A user by name and id; by the id alone where the name was erased. */
export const personCell = (id: number | null, name: string | null | undefined): Cell =>
  id === null ? textCell(null) : textCell(name ? `${name} (${id})` : `User ${id}`, userPath(id))

/** Who caused an event: `user:3`, `staff:ann`, `system`. */
export function actorCell(actor: string | null | undefined): Cell {
  const [kind, id = ''] = (actor ?? '').split(/:(.*)/s)
  if (kind === 'user') return codeCell(actor, `/console/users/${id}`)
  return kind === 'staff' ? codeCell(actor, addressWith('/console/staff', { sub: id })) : codeCell(actor)
}

/** The page of what an account belongs to; undefined where there is none. */
export function holderPath(account: string): string | undefined {
  const [kind, id] = account.split(':')
  switch (kind) {
    case 'user':
    case 'settled':
      return `/console/users/${id}`
    case 'game':
      return `/console/games/${id}`
    case 'withdrawal':
      return `/console/withdrawals/${id}`
    default:
      return undefined
  }
}
