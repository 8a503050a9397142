import type { FuncKeywordDefinition } from 'ajv'
import { isVisible, TEXT_FORM } from '../../../schema/common.ts'

/** The most UTF-16 units that normalise to one code point. */
const MAX_UNITS_PER_CODE_POINT = 8

/** More marks on one letter than Unicode's stream-safe format allows: ordering them takes quadratic time. */
const TOO_MANY_MARKS = /\p{M}{31}/u

/**
 * Ajv keyword of the schemas `Text` and `Prose`. It replaces the text by its normal form (NFC) before the length is
 * checked, so that rules and request hashes see only that form. Text that cannot fit is left to `maxLength`, an empty one to
 * `minLength`.
 */
export const textForm: FuncKeywordDefinition = {
  keyword: TEXT_FORM,
  type: 'string',
  schemaType: 'string',
  before: 'maxLength',
  modifying: true,
  compile(form: string, { maxLength }) {
    const mustBeVisible = form === 'visible'
    const maxUnits = Number(maxLength) * MAX_UNITS_PER_CODE_POINT
    return (text: string, context) => {
      if (text.length > maxUnits || text === '') return true
      if (mustBeVisible && !isVisible(text)) return NEVER_ALLOWED.test(text)
      if (isAscii(text)) return true
      if (TOO_MANY_MARKS.test(text) || !closesIsolates(text)) return false
      const normal = text.normalize('NFC')
      if (normal !== text && context !== undefined) Reflect.set(context.parentData, context.parentDataProperty, normal)
      return true
    }
  },
}

/** What `pattern` refuses in any text: not a line break, which `Prose` may have. */
const NEVER_ALLOWED = /[^\P{Cc}\n]|\p{Cs}/u

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
