import type { ErrorBody } from '../../../schema/common.ts'
import type { Language, LocalizedText } from '../../../schema/languages.ts'
import type { FieldErrors } from '../../language/messages.ts'
import { httpMessages } from '../messages.ts'

/** An error response of a route or a check; it is sent in the language of its request. */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  readonly text: LocalizedText
  readonly errors: FieldErrors | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    text: LocalizedText,
    options: { errors?: FieldErrors; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(text.en)
    this.status = status
    this.code = code
    this.text = text
    this.errors = options.errors
    this.headers = options.headers ?? {}
  }
}

/** A path parameter that cannot be an id. Every other fault of the request's form is reported before it. */
export class InvalidPathParam extends HttpError {
  constructor() {
    super(404, 'not_found', httpMessages.not_found)
  }
}

export const notFound = (): HttpError => new HttpError(404, 'not_found', httpMessages.not_found)

/** What an error says, in every language. */
interface Problem {
  readonly code: string
  readonly text: LocalizedText
  readonly errors?: FieldErrors | undefined
  /** How what was to be changed is now. */
  readonly data?: unknown
}

/** The body of every error. */
export function errorBody({ code, text, errors, data }: Problem, requestId: string, language: Language): string {
  const body: ErrorBody = {
    message: text[language],
    code,
    ...(errors === undefined ? {} : { errors: errorsIn(errors, language) }),
    request_id: requestId,
  }
  return JSON.stringify({ ...body, data })
}

const errorsIn = (errors: FieldErrors, language: Language): Record<string, string[]> =>
  Object.fromEntries(Object.entries(errors).map(([field, texts]) => [field, texts.map((text) => text[language])]))
