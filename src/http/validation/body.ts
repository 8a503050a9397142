import { isUtf8 } from 'node:buffer'
import { randomInt } from 'node:crypto'
import { MIMEType } from 'node:util'
import type {
  FastifyInstance,
  FastifyRequest,
  preParsingHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from 'fastify'
import { HttpError, notFound } from '../errors/http-error.ts'
import { yieldToEventLoop } from '../limits/concurrency.ts'
import { httpMessages } from '../messages.ts'
import { validationFailed } from './validation.ts'
import { markLarge } from './validators.ts'

/** Largest bodies in bytes: of clients and under /admin/v1. */
export const MAX_CLIENT_BODY_BYTES = 64 * 1024
export const MAX_OPERATOR_BODY_BYTES = 1024 * 1024

/** Bodies up to this size have all their faults reported. */
const SMALL_BODY_BYTES = 16 * 1024

/** A body's media type while it is hidden from Fastify. */
const hiddenMediaType = Symbol('media type')

declare module 'fastify' {
  interface FastifyRequest {
    [hiddenMediaType]: string | undefined
  }
  interface FastifyContextConfig {
    /** A page's route, whose body is a form. */
    takesForms?: true
  }
}

/**
 * Bodies are JSON in UTF-8 or absent; an empty body is absent whatever its media type. Where a route has a body schema, an
 * absent one becomes an empty object, so that missing fields are reported by name.
 */
export function parseBodies(app: FastifyInstance): void {
  // Keys that could reach a prototype are dropped, like all unknown fields.
  const parseJson = app.getDefaultJsonParser('remove', 'remove')
  app.decorateRequest(hiddenMediaType, undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null)
    if (!isJson(mediaTypeOf(request)))
      return done(new HttpError(415, 'unsupported_media_type', httpMessages.unsupported_media_type))
    if (!isUtf8(body)) return done(new HttpError(400, 'invalid_json', httpMessages.not_utf8))
    const parse = (): void => {
      void parseJson(request, body.toString(), (error, value) => {
        if (body.length > SMALL_BODY_BYTES) markLarge(value)
        done(error, value)
      })
    }
    if (body.length <= MAX_CLIENT_BODY_BYTES) return parse()
    const parseLarge = async (): Promise<void> => {
      // Parsing takes some tens of milliseconds: bodies that arrive together must not block the event loop in a row.
      await yieldToEventLoop()
      if (hasPlausibleShape(body)) parse()
      else done(validationFailed({ body: [httpMessages.implausible_shape] }))
    }
    void parseLarge()
  })
  app.addHook('preParsing', checkBodyHeaders)
  app.addHook('onRoute', (route: RouteOptions) => {
    if (route.schema?.body !== undefined)
      route.preValidation = [defaultToEmptyBody, ...[route.preValidation ?? []].flat()]
  })
}

const JSON_TYPE = 'application/json'

/**
 * Fastify would refuse an unknown media type even without a body, so the type is hidden from it. A request without a
 * route is refused before its body is read.
 */
const checkBodyHeaders: preParsingHookHandler = (request, _reply, _payload, done) => {
  if (request.is404) return done(notFound())
  const { method, headers } = request
  const type = headers['content-type']
  // Fastify ignores the type of a GET.
  if (type !== undefined && method !== 'GET' && (type !== JSON_TYPE || hasNoBody(headers)) && !isForm(request, type)) {
    request[hiddenMediaType] = type
    delete headers['content-type']
  }
  done()
}

/** A form of a page, on a route that takes forms. */
const isForm = ({ routeOptions }: FastifyRequest, type: string): boolean =>
  routeOptions.config.takesForms === true && /^application\/x-www-form-urlencoded(;|$)/i.test(type)

const hasNoBody = (headers: FastifyRequest['headers']): boolean => {
  const length = headers['content-length']
  return (length === undefined || length === '0') && headers['transfer-encoding'] === undefined
}

const mediaTypeOf = (request: FastifyRequest): string | undefined =>
  request.headers['content-type'] ?? request[hiddenMediaType]

const defaultToEmptyBody: preValidationHookHandler = (request, _reply, done) => {
  if (request.body === undefined) request.body = {}
  done()
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === JSON_TYPE) return true
  if (contentType === undefined) return false
  try {
    const { essence, params } = new MIMEType(contentType)
    return essence === JSON_TYPE && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8')
  } catch {
    return false
  }
}

/** Levels of a large body; the documented ones have at most five. */
const MAX_DEPTH = 64
/** Different field names in a large body; no schema has more than thirty. */
const MAX_NAMES = 1_000

/** Objects and lists in a large body; the longest that is documented, agents' countries, has 62,000. */
const MAX_STRUCTURES = 100_000

/** Texts in a large body, without field names; a thousand users or deposits, the longest documented, have 6,000. */
const MAX_TEXTS = 20_000

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a]
const [BRACE, BRACKET, END_BRACE, END_BRACKET] = [0x7b, 0x5b, 0x7d, 0x5d]

/** For hashing names. Odd, and random so that clients cannot construct names that share a hash. */
const HASH_FACTOR = 2 * randomInt(2 ** 20, 2 ** 31) + 1

/**
 * Whether JSON text looks like data: not endlessly nested, and not full of distinct field names, empty objects or short
 * texts. V8 takes far longer to parse such text than this scan.
 */
export function hasPlausibleShape(json: Uint8Array): boolean {
  /** Hashes of names; two names with the same hash count as one. */
  const names = new Set<number>()
  let depth = 0
  let structures = 0
  let texts = 0
  let text = 0
  for (let i = 0; i < json.length; i += 1) {
    const byte = json[i]
    if (byte === QUOTE) {
      text = 0
      for (i += 1; i < json.length && json[i] !== QUOTE; i += 1) {
        if (json[i] === BACKSLASH) i += 1
        text = Math.imul(text ^ (json[i] ?? 0), HASH_FACTOR)
        text ^= text >>> 15
      }
      // A name is subtracted again at its colon.
      texts += 1
      if (texts > MAX_TEXTS + 1) return false
    } else if (byte === COLON) {
      texts -= 1
      names.add(text)
      if (names.size > MAX_NAMES) return false
    } else if (byte === BRACE || byte === BRACKET) {
      depth += 1
      structures += 1
      if (depth > MAX_DEPTH || structures > MAX_STRUCTURES) return false
    } else if (byte === END_BRACE || byte === END_BRACKET) {
      depth -= 1
    }
  }
  return true
}
