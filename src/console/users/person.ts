import { isErased } from '../../features/users/user.ts'

/** What is shown of a person. */
export interface Person {
  readonly user_id: number
  readonly uid: string
  readonly name: string
  readonly avatar: string
}

/** How a page calls somebody; of an erased person only the id is left. */
export function personName(person: Person): string {
  if (isErased(person)) return `Erased person ${person.user_id}`
  return person.name === '' ? `User ${person.user_id}` : person.name
}
