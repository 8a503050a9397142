import { ReadStream } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import type { VerifyToken } from '../auth/tokens.ts'
import { hasValidToken, type LimitUnauthenticated } from '../auth/unauthenticated-limit.ts'
import { mediaTypeOf } from './asset-types.ts'
import { openAsset } from './open-asset.ts'

/** A file that is opened as a page shows its picture, and runs no script. */
const CONTENT_SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

/** A picture that was replaced shows everywhere after as long. */
const CACHE_CONTROL = 'public, max-age=3600'

/** Bytes that cost an unauthenticated client as much as an ordinary request. */
const BYTES_PER_COST = 1024 * 1024

/**
 * The pictures and videos of these folders at /assets, the first folder first. Open to everyone; requests without a
 * valid token count in the limit of their address, and each whole MiB once more.
 */
export function assetRoutes(
  app: FastifyInstance,
  folders: readonly string[],
  verify: VerifyToken,
  limitUnauthenticated: LimitUnauthenticated,
): void {
  app.get<{ Params: { '*': string } }>('/assets/*', { schema: { hide: true } }, async (request, reply) => {
    const isLimited = !hasValidToken(request, verify)
    const refusal = isLimited ? limitUnauthenticated(request) : undefined
    if (refusal !== undefined) throw refusal
    const path = request.params['*']
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY)
    const { status, headers, body, length } = await openAsset(request.raw, path, folders)
    const costOfBytes = Math.floor(length / BYTES_PER_COST)
    const refusalOfBytes = isLimited && costOfBytes > 0 ? limitUnauthenticated(request, costOfBytes) : undefined
    if (refusalOfBytes !== undefined) {
      body.destroy()
      throw refusalOfBytes
    }
    if (body instanceof ReadStream) {
      // A client that was promised more bytes than the file has by now would wait for them.
      body.once('end', () => {
        if (body.bytesRead < length) request.raw.socket.destroy()
      })
    }
    reply.code(status).headers({ ...headers, 'cache-control': CACHE_CONTROL })
    if (status !== 304) reply.type(mediaTypeOf(path) ?? 'application/octet-stream')
    return reply.send(body)
  })
}
