import { integer, micros, nullable, text } from '../../../ledger/rules/columns.ts'
import { projection, type RowOf } from '../../../ledger/rules/projection.ts'

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
