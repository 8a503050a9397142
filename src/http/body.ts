import { isUtf8 } from 'node:buffer'
import { MIMEType } from 'node:util'
import type { FastifyInstance, preParsingHookHandler, preValidationHookHandler, RouteOptions } from 'fastify'
import { HttpError } from './errors.ts'

/** Largest bodies in bytes: of clients and under /admin/v1. */
export const CLIENT_BODY_LIMIT = 64 * 1024
export const OPERATOR_BODY_LIMIT = 1024 * 1024

/**
 * Bodies are JSON in UTF-8 or absent; an empty body is absent whatever its media type. Where a route describes a body,
 * an absent one is an object without fields, so that what is missing is told by name.
 */
export function readBodies(app: FastifyInstance): void {
  // Keys that could reach a prototype are dropped, like all fields that nobody asked for.
  const parseJson = app.getDefaultJsonParser('remove', 'remove')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    if (body.length === 0 || request.is404) return done(null)
    if (!isJson(request.headers['content-type'])) return done(new HttpError(415, 'unsupported_media_type', NOT_JSON))
    if (!isUtf8(body)) return done(new HttpError(400, 'invalid_json', 'The body is not UTF-8.'))
    return parseJson(request, body.toString(), done)
  })
  app.addHook('preParsing', forgetTypeOfNothing)
  app.addHook('onRoute', (route: RouteOptions) => {
    if (route.schema?.body !== undefined) route.preValidation = [absentAsEmpty, ...[route.preValidation ?? []].flat()]
  })
}

const NOT_JSON = 'The body must be JSON in UTF-8 (Content-Type: application/json).'

/** Fastify would refuse a media type that it cannot read even when there is no body. */
const forgetTypeOfNothing: preParsingHookHandler = (request, _reply, _payload, done) => {
  const { method, headers } = request
  const length = headers['content-length']
  // Of a GET nobody looks at the type.
  if (method !== 'GET' && (length === undefined || length === '0') && headers['transfer-encoding'] === undefined) {
    delete headers['content-type']
  }
  done()
}

const absentAsEmpty: preValidationHookHandler = (request, _reply, done) => {
  if (request.body === undefined) request.body = {}
  done()
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  if (contentType === undefined) return false
  try {
    const { essence, params } = new MIMEType(contentType)
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8')
  } catch {
    return false
  }
}
