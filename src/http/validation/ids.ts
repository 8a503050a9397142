import { InvalidPathParam } from '../errors/http-error.ts'

/** The id that a path names, or null when it cannot be one: then there is no such thing. */
export function pathId(text: string): number | null {
  if (!/^[1-9][0-9]{0,15}$/.test(text)) return null
  const id = Number(text)
  return Number.isSafeInteger(id) ? id : null
}

/** The id that a path names; throws the 404 when it cannot be one. */
export function idInPath(text: string): number {
  const id = pathId(text)
  if (id === null) throw new InvalidPathParam()
  return id
}
