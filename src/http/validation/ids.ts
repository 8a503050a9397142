import { parseId } from '../../ledger/rules/account.ts'
import { InvalidPathParam } from '../errors/http-error.ts'

/** The id in a path; throws a 404 when the text cannot be an id. */
export function idInPath(text: string): number {
  const id = parseId(text)
  if (id === null) throw new InvalidPathParam()
  return id
}
