import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a request to the route takes of its caller's allowance, in ordinary requests; 1 where it says nothing. */
    cost?: number
  }
}

/** Bytes of a body that cost as much as an ordinary request: reading, parsing and checking them takes as long. */
const BODY_BYTES_PER_COST = 16 * 1024
/** Rows of a list that cost as much as an ordinary request: a page of the default length. */
const ROWS_PER_COST = 50

/** What a request costs, as far as it shows before its body is read. */
export function costOf(request: FastifyRequest): number {
  const { config, bodyLimit } = request.routeOptions
  return (config.cost ?? 1) * listShare(request.query) + Math.floor(bodyBytes(request, bodyLimit) / BODY_BYTES_PER_COST)
}

/** A body whose length is not announced counts as the longest that the route takes. */
function bodyBytes({ headers }: FastifyRequest, bodyLimit: number): number {
  const length = headers['content-length']
  if (length !== undefined) return Math.min(Number(length), bodyLimit)
  return headers['transfer-encoding'] === undefined ? 0 : bodyLimit
}

/** How many ordinary pages a long one is. */
function listShare(query: unknown): number {
  if (typeof query !== 'object' || query === null || !('limit' in query)) return 1
  const rows = Number(query.limit)
  return rows > ROWS_PER_COST ? Math.min(Math.ceil(rows / ROWS_PER_COST), 4) : 1
}
