import { isUtf8 } from 'node:buffer'
import { MIMEType } from 'node:util'
import type {
  FastifyInstance,
  FastifyRequest,
  preParsingHookHandler,
  preValidationHookHandler,
  RouteOptions,
} from 'fastify'
import { HttpError, notFound } from '../errors/http-error.ts'
import { yieldToEventLoop } from '../limits/event-loop-yield.ts'
import { hasPlausibleShape } from './json-shape.ts'
import { validationFailed } from './validation.ts'
import { markLarge } from './validators.ts'

/** Largest bodies in bytes: of clients and under /admin/v1. */
export const CLIENT_BODY_LIMIT = 64 * 1024
export const OPERATOR_BODY_LIMIT = 1024 * 1024

/** Up to here every fault of a body is looked for. */
const SMALL_BODY_BYTES = 16 * 1024

/** A body's media type while Fastify does not see it. */
const hiddenMediaType = Symbol('media type')

declare module 'fastify' {
  interface FastifyRequest {
    [hiddenMediaType]: string | undefined
  }
}

/**
 * Bodies are JSON in UTF-8 or absent; an empty body is absent whatever its media type. Where a route describes a body,
 * an absent one is an object without fields, so that what is missing is told by name.
 */
export function parseBodies(app: FastifyInstance): void {
  // Keys that could reach a prototype are dropped, like all fields that nobody asked for.
  const parseJson = app.getDefaultJsonParser('remove', 'remove')
  app.decorateRequest(hiddenMediaType, undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0) return done(null)
    if (!isJson(mediaTypeOf(request))) return done(new HttpError(415, 'unsupported_media_type', NOT_JSON))
    if (!isUtf8(body)) return done(new HttpError(400, 'invalid_json', 'The body is not UTF-8.'))
    const parse = (): void => {
      void parseJson(request, body.toString(), (error, value) => {
        if (body.length > SMALL_BODY_BYTES) markLarge(value)
        done(error, value)
      })
    }
    if (body.length <= CLIENT_BODY_LIMIT) return parse()
    const parseLarge = async (): Promise<void> => {
      // It takes some tens of milliseconds: those that arrive together are not parsed one right after the other.
      await yieldToEventLoop()
      if (hasPlausibleShape(body)) parse()
      else done(validationFailed({ body: [IMPLAUSIBLE_SHAPE] }))
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
const IMPLAUSIBLE_SHAPE = 'must not be nested so deeply, or have so many objects, lists, texts or different field names'
const NOT_JSON = 'The body must be JSON in UTF-8 (Content-Type: application/json).'

/**
 * Fastify would refuse a media type that it cannot read even when no body comes: it does not get to see one. What has
 * no door has no use for a body.
 */
const checkBodyHeaders: preParsingHookHandler = (request, _reply, _payload, done) => {
  if (request.is404) return done(notFound())
  const { method, headers } = request
  const type = headers['content-type']
  // Of a GET nobody looks at the type.
  if (type !== undefined && method !== 'GET' && (type !== JSON_TYPE || hasNoBody(headers))) {
    request[hiddenMediaType] = type
    delete headers['content-type']
  }
  done()
}

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
