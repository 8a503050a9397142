import { type RawBuilder, sql } from 'kysely'
import type { Micros } from '../../ledger/rules/time.ts'
import { microsOf } from '../micros-of.ts'

/** For Kysely: a column, or another SQL expression of ours, as microseconds since 1970. */
export const micros = (timestamp: string): RawBuilder<Micros> => sql<Micros>`${sql.raw(microsOf(timestamp))}`
