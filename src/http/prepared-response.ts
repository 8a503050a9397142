import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EventType } from '../../schema/events.ts'
import type { Language } from '../../schema/languages.ts'
import { CachedRead } from '../db/queries/caches.ts'
import { languageOf } from '../language/request-language.ts'
import type { AppliedEvents } from '../ledger/subscriptions/applied-events.ts'
import { requestedPosition, setPosition } from './positions.ts'

type Encoding = 'br' | 'gzip' | 'identity'

interface Variant {
  readonly encoding: Encoding
  readonly body: Buffer
  readonly etag: string
}

const compress: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  // A higher quality takes seconds for the largest file, and saves a tenth.
  br: (body) => promisify(brotliCompress)(body, { params: { [zlib.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (body) => promisify(gzip)(body),
  identity: async (body) => body,
}

interface PreparedResponseOptions {
  readonly cacheControl?: string
  readonly language?: Language | undefined
}

/** A response that is the same for everyone: built at the first request, and compressed once, off the main thread. */
export class PreparedResponse {
  readonly #type: string
  readonly #make: () => Promise<Buffer>
  readonly #cacheControl: string
  readonly #language: Language | undefined
  readonly #variants = new Map<Encoding, Promise<Variant>>()

  /**
   * Caches must revalidate by the ETag; by default any cache may store the response. With a language it is for those who
   * ask for that one, and its ETag for no other.
   */
  constructor(
    type: string,
    make: () => Promise<Buffer>,
    { cacheControl = 'public, no-cache', language }: PreparedResponseOptions = {},
  ) {
    this.#type = type
    this.#make = make
    this.#cacheControl = cacheControl
    this.#language = language
  }

  /** In the best encoding that the client accepts. */
  variantFor({ headers }: Pick<FastifyRequest, 'headers'>): Promise<Variant> {
    return this.#variant(acceptedEncoding(headers['accept-encoding']))
  }

  /** Sends a variant, or 304 to a client that has it. */
  send(request: FastifyRequest, reply: FastifyReply, { encoding, body, etag }: Variant): FastifyReply {
    const vary = this.#language === undefined ? 'Accept-Encoding' : 'Accept-Encoding, Accept-Language, Lang'
    reply.headers({ etag, vary, 'cache-control': this.#cacheControl })
    if (matchesEtag(request, etag)) return reply.code(304).send()
    if (encoding !== 'identity') reply.header('content-encoding', encoding)
    return reply.type(this.#type).send(body)
  }

  #variant(encoding: Encoding): Promise<Variant> {
    const known = this.#variants.get(encoding)
    if (known !== undefined) return known
    const variant = this.#prepare(encoding)
    this.#variants.set(encoding, variant)
    // The next request tries again.
    variant.catch(() => this.#variants.delete(encoding))
    return variant
  }

  async #prepare(encoding: Encoding): Promise<Variant> {
    const whole = encoding === 'identity' ? await this.#make() : (await this.#variant('identity')).body
    const body = await compress[encoding](whole)
    const hash = createHash('sha256').update(body).digest('base64url')
    const prefix = this.#language === undefined ? '' : `${this.#language}-`
    return { encoding, body, etag: `"${prefix}${hash}"` }
  }
}

/** Whether the client already has this variant; weak tags match as well. */
export function matchesEtag({ headers }: FastifyRequest, etag: string): boolean {
  const tags = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes(etag) || tags.includes('*')
}

/** The best supported encoding that a client accepts: `br`, then `gzip`, whatever its weights. */
export function acceptedEncoding(header: string | undefined): Encoding {
  const taken = new Set<string>()
  for (const entry of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...params] = entry.split(';').map((part) => part.trim())
    if (!params.some((param) => /^q=0(\.0*)?$/.test(param))) taken.add(name)
  }
  if (taken.has('br')) return 'br'
  return taken.has('gzip') || taken.has('x-gzip') ? 'gzip' : 'identity'
}

/** A cache may be the client's only, which asks each time whether the response has changed. */
const CACHE_CONTROL = 'private, no-cache'

/** What the documents say of routes that answer with an ETag. */
export const notModified = {
  304: Type.Null({ description: 'The client has the response: its ETag is in If-None-Match' }),
}

/** A JSON response that is the same for every caller, or for every caller of a language. */
export const preparedJson = (body: unknown, language?: Language): PreparedResponse => {
  const bytes = Buffer.from(JSON.stringify(body))
  return new PreparedResponse('application/json; charset=utf-8', async () => bytes, {
    cacheControl: CACHE_CONTROL,
    language,
  })
}

/**
 * A response for every caller, made of what is small and seldom changes, and kept in memory until an event changes it.
 * While the database is away it is answered as far as it is known to be true.
 */
export class CachedResponse {
  readonly #applied: AppliedEvents
  readonly #cached: Readonly<Record<Language, CachedRead<PreparedResponse>>>

  /** `read` answers the body in a language; it changes with events of these types only. */
  constructor(applied: AppliedEvents, types: readonly EventType[], read: (language: Language) => Promise<unknown>) {
    this.#applied = applied
    const cachedIn = (language: Language) => new CachedRead(async () => preparedJson(await read(language), language))
    this.#cached = { en: cachedIn('en'), ar: cachedIn('ar') }
    applied.on(types, () => Object.values(this.#cached).forEach((cached) => cached.invalidate()))
  }

  /** Sends the response, or 304; not older than the position that the client sends back. */
  async send(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const requested = requestedPosition(request, this.#applied.incarnation)
    const isReached = requested === null || (await this.#applied.reach(requested))
    setPosition(reply, this.#applied.position)
    const cached = this.#cached[languageOf(request)]
    const response = await (isReached ? cached.current() : cached.refresh())
    response.send(request, reply, await response.variantFor(request))
  }
}
