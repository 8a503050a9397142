import type { Kysely } from 'kysely'
import type { LocalizedText } from '../../../schema/languages.ts'
import { openPool } from '../../db/pool.ts'
import { queryBuilder } from '../../db/queries/query-builder.ts'
import type { Tables } from '../../db/tables.ts'
import type { Progress } from '../jobs/job-rows.ts'

/** A query that cannot be answered; the message and the text are for people, the message in English. */
export class InvalidQuery extends Error {
  override readonly name = 'InvalidQuery'
  /** The parameter or flag at fault. */
  readonly field: string
  readonly text: LocalizedText

  constructor(field: string, text: LocalizedText) {
    super(text.en)
    this.field = field
    this.text = text
  }
}

/** Progress and cancellation of a long report. */
export interface QueryContext {
  /** When aborted, the report throws its reason before the next page. */
  readonly signal: AbortSignal
  /** So many more events will be read. */
  readonly onPlanned: (events: number) => void
  /** So many more events have been read. */
  readonly onScanned: (events: number) => void
  /** The folder of snapshots of seals, at which balances of the past begin. Left out: they begin at position 1. */
  readonly sealsFolder?: string | undefined
  /** Is told, for each newer seal, why the report does not begin there; a snapshot that was changed is a finding. */
  readonly onUnusableSeal?: (reason: string, isFinding: boolean) => void
}

/** Where a report may begin. */
type Seals = Pick<QueryContext, 'sealsFolder' | 'onUnusableSeal'>

/** Calls `work` with connections of its own, and with a context that tells `progress` how much was read of all. */
export async function withReads<Result>(
  url: string,
  signal: AbortSignal,
  progress: (progress: Progress) => void,
  work: (db: Kysely<Tables>, context: QueryContext) => Promise<Result>,
  seals: Seals = {},
): Promise<Result> {
  await using db = queryBuilder(openPool(url, { max: 2, application_name: 'audit' }))
  let of = 0
  let events = 0
  return await work(db, {
    signal,
    onPlanned: (more) => void (of += more),
    onScanned: (more) => progress({ events: (events += more), of }),
    ...seals,
  })
}
