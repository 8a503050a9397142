import type { ErrorBody } from '../../../schema/common.ts'

/** An error response of a route or a check. */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  readonly errors: ErrorBody['errors']
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    options: { errors?: ErrorBody['errors']; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.errors = options.errors
    this.headers = options.headers ?? {}
  }
}

/** A path parameter that cannot be an id. Every other fault of the request's form is reported before it. */
export class InvalidPathParam extends HttpError {
  constructor() {
    super(404, 'not_found', 'Not found.')
  }
}

export const notFound = (): HttpError => new HttpError(404, 'not_found', 'Not found.')

/** The body of every error. */
export function errorBody(
  message: string,
  code: string,
  requestId: string,
  errors?: Readonly<Record<string, readonly string[]>>,
): string {
  return JSON.stringify({ message, code, ...(errors === undefined ? {} : { errors }), request_id: requestId })
}
