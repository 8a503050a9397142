import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { headOf } from '../../db/head.ts'
import type { Tables } from '../../db/tables.ts'
import { actorOf } from '../auth/caller.ts'
import type { ExecuteCommand } from '../execute-command.ts'
import { positionOf } from '../positions.ts'
import { RecentWriters } from './recent-writers.ts'
import type { ReadDatabase, Standby } from './standby.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A GET route that writes, decides what a caller may do or answers from memory: no standby answers it. */
    reads?: 'primary'
  }
  interface FastifyRequest {
    /** Whether a standby answers this request's reads. */
    readsStandby: boolean
  }
}

/** The one database that all of a report is read from. */
export type ReportDatabase = Pick<ReadDatabase, 'reports' | 'url'>

/** The databases that answer reads: the primary and, where there is one, a standby. */
export class ReadSources {
  /** What answers reads in place of the primary; null when there is none. */
  readonly standby: Standby | null
  /** Whether there is a primary: without one, the standby is all there is. */
  readonly hasPrimary: boolean
  /** They read the primary until the standby has what they wrote. */
  readonly writers = new RecentWriters()
  readonly #primary: ReadDatabase

  constructor(primary: ReadDatabase, standby: Standby | null, hasPrimary = true) {
    this.#primary = primary
    this.standby = standby
    this.hasPrimary = hasPrimary
  }

  /** Makes something that reads, for each database; returns the one for a request. */
  each<Reader>(make: (db: Kysely<Tables>) => Reader): (request: Pick<FastifyRequest, 'readsStandby'>) => Reader {
    const primary = make(this.#primary.db)
    if (this.standby === null) return () => primary
    const standby = make(this.standby.db)
    return ({ readsStandby }) => (readsStandby ? standby : primary)
  }

  /**
   * The database that all of a report is read from: a standby that may answer this request, once it has what the
   * primary has now. When that takes too long, the primary. Rejects when the primary cannot be asked.
   */
  async reportsFor({ readsStandby }: Pick<FastifyRequest, 'readsStandby'>): Promise<ReportDatabase> {
    const { standby } = this
    const primary = this.#primary
    if (standby === null || !readsStandby) return primary
    return (await standby.reach(await headOf(primary.reports))) ? standby : primary
  }

  /** The caller of this request has written; the event, if there is one, is at `position` or before. */
  recordWrite({ caller }: Pick<FastifyRequest, 'caller'>, position: number): void {
    if (this.standby !== null) this.writers.record(actorOf(caller), position)
  }
}

/** Executes commands and records who sends them, where that makes a difference. */
export function executeRecordingWriters(
  execute: ExecuteCommand,
  reads: ReadSources,
  applied: { readonly position: number },
): ExecuteCommand {
  if (reads.standby === null) return execute
  return async (request, reply, verb, input, options) => {
    reads.recordWrite(request, applied.position)
    try {
      await execute(request, reply, verb, input, options)
    } finally {
      // Again, as it may have waited for long. What was committed is at the position of the response.
      reads.recordWrite(request, Math.max(applied.position, positionOf(reply)))
    }
  }
}
