import { parseExact } from '../http/execute-command.ts'

/**
 * Redacts a person in the text of a JSON response: name, avatar and its address become empty, and the uid the one they
 * have now. Everything else is preserved exactly, numbers included. Returns the same text when the person does not appear
 * in it.
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
    return { ...fields, name: '', avatar: '', ...('avatar_url' in fields && { avatar_url: '' }), uid }
  }
  const after = JSON.stringify(redact(parseExact(text)))
  return isNamed ? after : text
}

/** Persons, and nothing else in responses, have all of these fields. */
const isPerson = (fields: Readonly<Record<string, unknown>>): boolean =>
  ['id', 'name', 'avatar', 'uid'].every((name) => name in fields)

/** The digits of a number as `parseExact` reads it. */
const digitsOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'rawJSON' in value ? value.rawJSON : undefined
