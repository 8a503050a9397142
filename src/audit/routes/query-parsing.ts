import { validationFailed } from '../../http/validation/validation.ts'
import { AS_OF_FORMAT, type AsOf, parseAsOf } from '../reports/as-of.ts'
import { InvalidQuery } from '../reports/query-context.ts'

// What a query's schema cannot tell.

/** 422 for digits that are no whole number here. */
export function parseInteger(field: string, text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw validationFailed({ [field]: ['must be at most 9007199254740991'] })
  return number
}

/** Null when there is none; 422 for a day or time that does not exist. */
export function parseAsOfParam(field: string, text: string | undefined): AsOf | null {
  if (text === undefined) return null
  const moment = parseAsOf(text)
  if (moment === null) throw validationFailed({ [field]: [`must be ${AS_OF_FORMAT}`] })
  return moment
}

/** 422 when what is asked for cannot be answered. */
export async function orValidationFailed<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (error instanceof InvalidQuery) throw validationFailed({ [error.field]: [error.message] })
    throw error
  }
}
