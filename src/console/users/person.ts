import { isForgotten } from '../../features/users/forgotten.ts'
import { type Cell, statusCell, textCell } from '../frame/cells.ts'

/** What is shown of a person. */
export interface Person {
  readonly user_id: number
  readonly uid: string
  readonly name: string
  readonly avatar: string
}

export const userPath = (id: number): string => `/console/users/${id}`

/** Whether the person asked to be forgotten: profile and bank details are gone. */
export const isErased = (person: Person): boolean => isForgotten(person)

/** How a page calls somebody; of an erased person only the id is left. */
export function personName(person: Person): string {
  if (isErased(person)) return `Erased person ${person.user_id}`
  return person.name === '' ? `User ${person.user_id}` : person.name
}

/** A person's name, which leads to the page of the user. */
export const personCell = (person: Person): Cell =>
  isErased(person)
    ? statusCell('erased', 'neutral', userPath(person.user_id))
    : textCell(personName(person), userPath(person.user_id))
