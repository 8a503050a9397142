import { once } from 'node:events'
import { ReadStream } from 'node:fs'
import { realpath } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { send } from '@fastify/send'
import type { FastifyInstance } from 'fastify'
import type { Messages } from '../language/messages.ts'
import type { LimitUnauthenticated } from './auth/auth.ts'
import { HttpError, notFound } from './errors/http-error.ts'

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
export function assetRoutes(app: FastifyInstance, folders: readonly string[], limit: LimitUnauthenticated): void {
  app.get<{ Params: { '*': string } }>('/assets/*', { schema: { hide: true } }, async (request, reply) => {
    const refusal = limit(request)
    if (refusal !== undefined) throw refusal
    const path = request.params['*']
    reply.header('content-security-policy', CONTENT_SECURITY_POLICY)
    const { status, headers, body, length } = await openAsset(request.raw, path, folders)
    const costOfBytes = Math.floor(length / BYTES_PER_COST)
    const refusalOfBytes = costOfBytes > 0 ? limit(request, costOfBytes) : undefined
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

/** What a request for a file is answered with. */
interface OpenAsset {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** An open file, or empty for HEAD and 304. */
  readonly body: Readable
  /** The bytes of the body. */
  readonly length: number
}

/**
 * Opens the file with this path in the first of the folders that has it, or the part of it that the request wants.
 * Throws a 404 for everything that is not served: other kinds of files, names that begin with a dot, and paths that lead
 * out of the folder, be it by a link; a 416 for a range that the file does not have.
 */
async function openAsset(request: IncomingMessage, path: string, folders: readonly string[]): Promise<OpenAsset> {
  if (!isServed(path)) throw notFound()
  for (const folder of folders) {
    const found = await findWithin(folder, path)
    if (found !== undefined) return await openFound(request, found)
  }
  throw notFound()
}

/** Whether each part of a path is a plain name, and the last one that of a picture or video. */
const isServed = (path: string): boolean =>
  mediaTypeOf(path) !== undefined &&
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a NUL would end the path for the operating system.
  path.split('/').every((part) => part !== '' && !part.startsWith('.') && !/[\0\\]/.test(part))

interface FoundFile {
  /** Without links. */
  readonly folder: string
  /** Within it, without links. */
  readonly path: string
}

/** The real file; undefined when there is none, or when it is not within the folder. */
async function findWithin(folder: string, path: string): Promise<FoundFile | undefined> {
  try {
    const [realFolder, realFile] = await Promise.all([realpath(folder), realpath(join(folder, path))])
    const within = relative(realFolder, realFile).replaceAll(sep, '/')
    return isServed(within) ? { folder: realFolder, path: within } : undefined
  } catch {
    // Not there, not readable, or a name that the file system cannot have.
    return undefined
  }
}

const messages = {
  precondition_failed: {
    en: 'The file is another than the request expects.',
    ar: 'الملف ليس هو الذي يتوقعه الطلب.',
  },
  range_not_satisfiable: {
    en: 'The file does not have this range.',
    ar: 'لا يحتوي الملف على هذا النطاق.',
  },
} satisfies Messages

const PRECONDITION_FAILED = 412
const RANGE_NOT_SATISFIABLE = 416

async function openFound(request: IncomingMessage, { folder, path }: FoundFile): Promise<OpenAsset> {
  const encoded = `/${path.split('/').map(encodeURIComponent).join('/')}`
  const sent = await send(request, encoded, {
    root: folder,
    index: false,
    cacheControl: false,
    contentType: false,
    onFile: (_path, stat) => {
      // Reading from a pipe or a device might never end.
      if (!stat.isFile()) throw notFound()
    },
  })
  const { statusCode: status, headers, stream: body } = sent
  if (status === PRECONDITION_FAILED) {
    throw new HttpError(status, 'precondition_failed', messages.precondition_failed)
  }
  if (status === RANGE_NOT_SATISFIABLE) {
    const range = { 'content-range': headers['Content-Range'] ?? 'bytes */*' }
    throw new HttpError(status, 'range_not_satisfiable', messages.range_not_satisfiable, { headers: range })
  }
  if (sent.type !== 'file') throw notFound()
  // A file that was replaced or removed since it was found is not there.
  if (body instanceof ReadStream) {
    await once(body, 'open').catch(() => {
      throw notFound()
    })
  }
  return { status, headers, body, length: body instanceof ReadStream ? Number(headers['Content-Length']) : 0 }
}

/** The files that are served, by the ending of their name in lower case, with their media types. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
  ['svg', 'image/svg+xml; charset=utf-8'],
  ['mp4', 'video/mp4'],
  ['webm', 'video/webm'],
])

/** The media type of a file by its name; undefined for a file that is not served. */
export const mediaTypeOf = (name: string): string | undefined => mediaTypes.get(extname(name).slice(1).toLowerCase())
