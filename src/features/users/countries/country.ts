import {
  integer,
  micros,
  nullable,
  projection,
  type RowOf,
  type State,
  text,
} from '../../../ledger/rules/projection.ts'
import { versionOfValues } from '../../../ledger/rules/stored-values.ts'

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

export const countryCount = (state: State): number => state.get(countryCounts, COUNTRIES)?.countries ?? 0
