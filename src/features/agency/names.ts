import type { Person } from '../../../schema/common.ts'
import type { StoredName } from '../../language/names.ts'
import type { State } from '../../ledger/rules/projection.ts'
import { countries } from '../users/countries/country.ts'
import { userProfiles } from '../users/user.ts'

/** Looks up people and countries for responses. */
export interface NameLookup {
  readonly person: (userId: number) => Person
  readonly country: (countryId: number) => NamedCountry
}

export interface NamedCountry extends StoredName {
  readonly id: number
}

/** A person without a profile: the id remains when the name was erased. */
export const unnamedPerson = (id: number): Person => ({ id, name: '', uid: '', avatar: '' })

/** The name of what is unknown. */
export const unnamed: StoredName = { name: '', name_ar: null }

/** In the rows that a verb has read. */
export const namesIn = (state: State): NameLookup => ({
  person: (id) => {
    const profile = state.get(userProfiles, String(id))
    return profile === undefined
      ? unnamedPerson(id)
      : { id, name: profile.name, uid: profile.uid, avatar: profile.avatar }
  },
  country: (id) => {
    const { name, name_ar } = state.get(countries, String(id)) ?? unnamed
    return { id, name, name_ar }
  },
})
