import { InvalidPathParam } from '../errors/http-error.ts'

/** The id in a path, or null when the text cannot be an id. */
export function pathId(text: string): number | null {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) return null
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : null
}

/** The id in a path; throws a 404 when the text cannot be an id. */
export function idInPath(text: string): number {
  const id = pathId(text)
  if (id === null) throw new InvalidPathParam()
  return id
}
