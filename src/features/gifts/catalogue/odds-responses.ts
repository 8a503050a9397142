import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tables } from '../../../db/tables.ts'
import { notFound } from '../../../http/errors/http-error.ts'
import { type PreparedResponse, preparedJson } from '../../../http/prepared-response.ts'
import { publishedOddsTable } from '../reads.ts'

/** Tables in memory, some kilobytes each. */
const MAX_ODDS_TABLES = 1_000
const ODDS_RETENTION_MS = 60_000

/** Answers published odds tables, from memory where they were asked for lately. */
export class OddsResponses {
  readonly #db: Kysely<Tables>
  /** By hash: a table changes only when a rebuild corrects it. */
  readonly #known = new LRUCache<string, PreparedResponse>({ max: MAX_ODDS_TABLES, ttl: ODDS_RETENTION_MS })

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Sends the table with this hash; throws a 404 where there is none. */
  async send(request: FastifyRequest, reply: FastifyReply, hash: string): Promise<void> {
    const response = this.#known.get(hash) ?? (await this.#read(hash))
    response.send(request, reply, await response.variantFor(request))
  }

  async #read(hash: string): Promise<PreparedResponse> {
    const table = /^[0-9a-f]{64}$/.test(hash) ? await publishedOddsTable(this.#db, hash) : undefined
    if (table === undefined) throw notFound()
    const response = preparedJson({ data: table })
    this.#known.set(hash, response)
    return response
  }
}
