import type { CountryRecord } from '../../../../schema/operator.ts'
import { keyOf } from '../../../ledger/rules/projection.ts'
import type { State } from '../../../ledger/rules/state.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { countryRecord } from '../presenters.ts'
import { countries } from './country.ts'

export interface DefineCountry {
  readonly id: number
  /** May be left out of a country that is known. */
  readonly name?: string | undefined
}

/** Creates a country or changes its name. Words only: no event. */
export const defineCountry: Verb<DefineCountry, CountryRecord> = {
  reads: ({ id }) => [keyOf(countries, id)],

  decide: (state, input) =>
    nameAfter(state, input) === undefined ? refuse('validation_failed', { name: ['is required'] }) : [],

  sideWrites(state, input, { now, actor }) {
    const before = state.get(countries, String(input.id))
    const name = nameAfter(state, input)
    if (name === undefined || name === before?.name) return
    state.set(countries, String(input.id), {
      country_id: input.id,
      name,
      created_at: before?.created_at ?? now,
      updated_at: now,
      updated_by: actor,
    })
  },

  result(state, { id }) {
    const country = state.get(countries, String(id))
    if (country === undefined) throw new Error(`country ${id} was not noted`)
    return countryRecord(country)
  },
}

const nameAfter = (state: State, { id, name }: DefineCountry): string | undefined =>
  name ?? state.get(countries, String(id))?.name
