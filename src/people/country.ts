import { projection } from '../ledger/state.ts'
import type { Micros } from '../ledger/time.ts'

/** Words: beside the ledger. */
export interface Country {
  readonly country_id: number
  readonly name: string
  readonly created_at: Micros
  readonly updated_at: Micros
  readonly updated_by: string
}

export const countries = projection<Country>('countries')
