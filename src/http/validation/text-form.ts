import type { FuncKeywordDefinition } from 'ajv'
import { TEXT_FORM } from '../../../schema/common.ts'

/** UTF-16 units that one code point of the normal form can come from. */
const MAX_UNITS_PER_CODE_POINT = 8

/** More marks on one letter than Unicode's stream-safe format has: the time to order them grows with their square. */
const TOO_MANY_MARKS = /\p{M}{31}/u

/**
 * Ajv's keyword of the schemas `Text` and `Prose`. It puts the normal form (NFC) in the place of what was sent before
 * the length is looked at, so that nothing after it, neither a rule nor the meaning of an idempotent request, meets
 * another form. Text that cannot fit is left as it is, for `maxLength` to refuse.
 */
export const textForm: FuncKeywordDefinition = {
  keyword: TEXT_FORM,
  type: 'string',
  schemaType: 'boolean',
  before: 'maxLength',
  modifying: true,
  compile(_on: boolean, { maxLength }) {
    const maxUnits = Number(maxLength) * MAX_UNITS_PER_CODE_POINT
    return (text: string, place) => {
      if (text.length > maxUnits || isAscii(text)) return true
      if (TOO_MANY_MARKS.test(text) || !closesIsolates(text)) return false
      const normal = text.normalize('NFC')
      if (normal !== text && place !== undefined) Reflect.set(place.parentData, place.parentDataProperty, normal)
      return true
    }
  },
}

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text)

/** Whether each directional isolate (U+2066 to U+2068) is ended (U+2069) within the text, and nothing else is. */
function closesIsolates(text: string): boolean {
  let open = 0
  for (const [mark] of text.matchAll(/[\u2066-\u2069]/g)) {
    open += mark === '\u2069' ? -1 : 1
    if (open < 0) return false
  }
  return open === 0
}
