import { validationFailed } from '../../http/validation/validation.ts'
import { fieldMessages } from '../../language/messages.ts'
import { auditMessages } from '../messages.ts'
import { AS_OF_FORMAT, type AsOf, parseAsOf } from '../reports/as-of.ts'
import { InvalidQuery } from '../reports/query-context.ts'

// Validation of query parameters beyond what their schemas can express.

/** Throws 422 for an integer that is too large. */
export function parseInteger(field: string, text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number))
    throw validationFailed({ [field]: [fieldMessages.at_most(Number.MAX_SAFE_INTEGER)] })
  return number
}

/** Null without a text; throws 422 for a day or time that does not exist. */
export function parseAsOfParam(field: string, text: string | undefined): AsOf | null {
  if (text === undefined) return null
  const asOf = parseAsOf(text)
  if (asOf === null) throw validationFailed({ [field]: [auditMessages.as_of(AS_OF_FORMAT)] })
  return asOf
}

/** Turns an InvalidQuery into a 422. */
export async function orValidationFailed<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof InvalidQuery) throw validationFailed({ [error.field]: [error.text] })
    throw error
  }
}
