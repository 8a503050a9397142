import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Cost of a request to the route, in ordinary requests; 1 by default. */
    cost?: number
  }
}

/** Bytes of a body that take as long to read, parse and validate as an ordinary request. */
const BODY_BYTES_PER_COST = 16 * 1024
/** Rows of a list that cost as much as an ordinary request: the default page. */
const ROWS_PER_COST = 50

/** The cost of a request, as far as it is known before its body is read. */
export function costOf(request: FastifyRequest): number {
  const { config, bodyLimit } = request.routeOptions
  return (config.cost ?? 1) * listShare(request.query) + Math.floor(bodyBytes(request, bodyLimit) / BODY_BYTES_PER_COST)
}

/** A body without a Content-Length counts as the longest that the route accepts. */
function bodyBytes({ headers }: FastifyRequest, bodyLimit: number): number {
  const length = headers['content-length']
  if (length !== undefined) return Math.min(Number(length), bodyLimit)
  return headers['transfer-encoding'] === undefined ? 0 : bodyLimit
}

/** The cost of a long page, in default pages. */
function listShare(query: unknown): number {
  if (typeof query !== 'object' || query === null || !('limit' in query)) return 1
  const rows = Number(query.limit)
  return rows > ROWS_PER_COST ? Math.min(Math.ceil(rows / ROWS_PER_COST), 4) : 1
}
