import { projection } from '../../../ledger/rules/projection.ts'
import type { Micros } from '../../../ledger/rules/time.ts'

/** Profile data, which is not part of the ledger. */
export interface Country {
  readonly country_id: number
  readonly name: string
  readonly created_at: Micros
  readonly updated_at: Micros
  readonly updated_by: string
}

export const countries = projection<Country>('countries')
