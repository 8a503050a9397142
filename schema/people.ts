import { type Static, Type } from '@sinclair/typebox'
import { Id, PathId } from './common.ts'
import { named } from './named.ts'
import { SearchWord } from './search.ts'

export const UserSearch = Type.Object({ search: SearchWord })

export const UserParams = Type.Object({ id: { ...PathId, description: 'id of the user' } })

export const Country = named(
  'Country',
  Type.Object({ id: Id, name: Type.String() }),
  'A country in which dollars can be withdrawn',
)
export type Country = Static<typeof Country>
