/** A request without the headers that `bytesOf` adds. */
export interface HttpRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer | null
}

export const bearer = (token: string): readonly [string, string] => ['Authorization', `Bearer ${token}`]
export const jsonType = ['Content-Type', 'application/json'] as const

/** A JSON request. */
export const jsonRequest = (method: string, path: string, token: string, body?: unknown): HttpRequest => ({
  method,
  path,
  headers: [bearer(token), jsonType],
  body: body === undefined ? null : Buffer.from(JSON.stringify(body)),
})

/** The same request with a token; null is no token. */
export const withToken = (request: HttpRequest, token: string | null): HttpRequest =>
  token === null ? request : { ...request, headers: [bearer(token), ...request.headers] }

/** The request as bytes. Header values are latin1: one byte for each character. */
export function bytesOf({ method, path, headers, body }: HttpRequest): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === null ? [] : [`Content-Length: ${body.length}`]),
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return body === null ? head : Buffer.concat([head, body])
}
