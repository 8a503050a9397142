import { parseExact } from '../http/validation/exact-json.ts'

/**
 * The text of a JSON answer in which the person with this id has neither name nor avatar, and the uid that they have
 * now; the same text when it does not name them. Everything else stays to the letter, numbers too.
 */
export function redactPerson(text: string, id: number, uid: string): string {
  let isNamed = false
  const redact = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(redact)
    if (typeof value !== 'object' || value === null || 'rawJSON' in value) return value
    const fields = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, redact(inner)]))
    if (!isPerson(fields) || digitsOf(fields['id']) !== String(id)) return fields
    if (fields['name'] === '' && fields['avatar'] === '' && fields['uid'] === uid) return fields
    isNamed = true
    return { ...fields, name: '', avatar: '', uid }
  }
  const after = JSON.stringify(redact(parseExact(text)))
  return isNamed ? after : text
}

/** What is answered of a person has all of these, and nothing else has. */
const isPerson = (fields: Readonly<Record<string, unknown>>): boolean =>
  ['id', 'name', 'avatar', 'uid'].every((name) => name in fields)

/** The digits of a number as `parseExact` reads it. */
const digitsOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'rawJSON' in value ? value.rawJSON : undefined
