import type { LocalizedName } from '../../../schema/languages.ts'
import { fieldMessages } from '../../language/messages.ts'
import { type StoredName, storedName } from '../../language/names.ts'
import {
  integer,
  keyOf,
  micros,
  nullable,
  projection,
  type RowOf,
  type State,
  text,
} from '../../ledger/rules/projection.ts'
import { type ExpectedVersion, hasValues, isExpected, versionOfValues } from '../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'

/** Profile data, which is not part of the ledger. */
export const countries = projection('countries', {
  country_id: integer(),
  name: text(),
  name_ar: nullable(text()),
  created_at: micros(),
  updated_at: micros(),
  updated_by: text(),
})

export type Country = RowOf<typeof countries>

/** The version of what defining a country sets. */
export const countryVersion = ({ name, name_ar }: Pick<Country, 'name' | 'name_ar'>): string =>
  versionOfValues({ name, name_ar })

/** Limited because they are answered without paging. There are 249 in ISO 3166. */
export const MAX_COUNTRIES = 500

/** How many countries there are: a single row. */
export const countryCounts = projection('country_counts', {
  list: text(),
  countries: integer(),
})

export const COUNTRIES = 'countries'

const countryCount = (state: State): number => state.get(countryCounts, COUNTRIES)?.countries ?? 0

interface DefineCountry {
  readonly id: number
  /** Required for a new country. */
  readonly name?: LocalizedName | undefined
  readonly expected?: ExpectedVersion | undefined
}

const refusals = ['precondition_failed', 'validation_failed', 'holding_limit'] as const

/**
 * Creates or renames a country. Profile data only, so no event. Refusals: `precondition_failed` (another version is
 * stored), `validation_failed` (a new one without a name), `holding_limit` (too many countries).
 */
export const defineCountry: Verb<DefineCountry, Country, typeof refusals> = {
  refusals,
  reads: ({ id }) => [keyOf(countries, id), keyOf(countryCounts, COUNTRIES)],

  decide: (state, input) => {
    const before = state.get(countries, String(input.id))
    if (!isExpected(input.expected, before, countryVersion)) return refuse('precondition_failed')
    if (nameAfter(state, input) === undefined) return refuse('validation_failed', { name: [fieldMessages.required] })
    return before === undefined && countryCount(state) >= MAX_COUNTRIES ? refuse('holding_limit') : []
  },

  sideWrites(state, input, { now, actor }) {
    const before = state.get(countries, String(input.id))
    const name = nameAfter(state, input)
    if (name === undefined || (before !== undefined && hasValues(before, name))) return
    state.set(countries, String(input.id), {
      country_id: input.id,
      ...name,
      created_at: before?.created_at ?? now,
      updated_at: now,
      updated_by: actor,
    })
    if (before === undefined) {
      state.set(countryCounts, COUNTRIES, { list: COUNTRIES, countries: countryCount(state) + 1 })
    }
  },

  result(state, { id }) {
    const country = state.get(countries, String(id))
    if (country === undefined) throw new Error(`country ${id} was not stored`)
    return country
  },
}

const nameAfter = (state: State, { id, name }: DefineCountry): StoredName | undefined =>
  name === undefined ? state.get(countries, String(id)) : storedName(name)
