import type { FastifySchemaValidationError } from 'fastify'
import { isVisible, TEXT_FORM } from '../../../schema/common.ts'
import { arabicFormOf, type LocalizedText } from '../../../schema/languages.ts'
import { fieldMessages, type Messages } from '../../language/messages.ts'
import { formatCount, formatNumber, type PluralForms } from '../../language/numbers.ts'

/**
 * Annotations of a schema. A title states the expected form, and the description then says what the field means; without
 * a title the description states the form.
 */
interface AnnotatedSchema {
  readonly title?: unknown
  readonly description?: unknown
  readonly [TEXT_FORM]?: unknown
}

/** The expected form as a schema states it, if it does. */
export function expectedForm(schema: AnnotatedSchema = {}): LocalizedText | undefined {
  const en = schema.title ?? schema.description
  return typeof en === 'string' ? { en, ar: arabicFormOf(schema) ?? 'بالصيغة الموضحة في التوثيق' } : undefined
}

/** A violation as Ajv reports it with `verbose`. */
export interface Violation extends FastifySchemaValidationError {
  readonly data?: unknown
  readonly parentSchema?: AnnotatedSchema
  /** What would match, where no branch of a union does. */
  readonly alternatives?: readonly LocalizedText[]
}

const characters: PluralForms['ar'] = {
  zero: 'أي حرف',
  one: 'حرف واحد',
  two: 'حرفين',
  few: '# أحرف',
  many: '# حرفًا',
  other: '# حرف',
}
const items: PluralForms['ar'] = {
  zero: 'أي عنصر',
  one: 'عنصر واحد',
  two: 'عنصرين',
  few: '# عناصر',
  many: '# عنصرًا',
  other: '# عنصر',
}
const inArabic = (limit: unknown, ar: PluralForms['ar']): string =>
  formatCount('ar', Number(limit), { en: { one: '#', other: '#' }, ar })

/** What a field must be. No message repeats the value that was sent. */
export const violationMessages = {
  oneOf: ({ en, ar }: LocalizedText) => ({ en: `The value must be ${en}.`, ar: `يجب أن تكون القيمة ${ar}.` }),
  at_least: (limit: unknown) => ({
    en: `The value must be at least ${String(limit)}.`,
    ar: `يجب ألا تقل القيمة عن ${formatNumber('ar', Number(limit))}.`,
  }),
  not_visible: { en: 'The text must have a visible character.', ar: 'يجب أن يحتوي النص على حرف ظاهر واحد على الأقل.' },
  not_empty: { en: 'The text must not be empty.', ar: 'يجب ألا يكون النص فارغًا.' },
  min_length: (limit: unknown) => ({
    en: `The text must have at least ${String(limit)} characters.`,
    ar: `يجب ألا يقل النص عن ${inArabic(limit, characters)}.`,
  }),
  max_length: (limit: unknown) => ({
    en: `The text must have at most ${String(limit)} characters.`,
    ar: `يجب ألا يزيد النص على ${inArabic(limit, characters)}.`,
  }),
  invalid_format: { en: 'The value has an invalid format.', ar: 'صيغة هذه القيمة غير صحيحة.' },
  min_items: (limit: unknown) => ({
    en: `The list must hold at least ${String(limit)}.`,
    ar: `يجب ألا تقل القائمة عن ${inArabic(limit, items)}.`,
  }),
  max_items: (limit: unknown) => ({
    en: `The list must hold at most ${String(limit)}.`,
    ar: `يجب ألا تزيد القائمة على ${inArabic(limit, items)}.`,
  }),
  same_twice: { en: 'The list must not hold the same twice.', ar: 'يجب ألا تتكرر قيمة في القائمة.' },
  string_once: { en: 'The value must be a string, given once.', ar: 'يجب أن تكون القيمة نصًا، وألا تُرسل أكثر من مرة.' },
  text_rule: {
    en:
      'The value must be text without control characters, lone surrogates, directional overrides, isolates left open and more than ' +
      '30 combining marks in a row.',
    ar:
      'يجب أن يخلو النص من رموز التحكم، ومن الرموز غير المكتملة، ومن رموز تغيير الاتجاه، ومن العوازل غير المغلقة، ' +
      'ومن أكثر من 30 علامة تشكيل متتالية.',
  },
  invalid: { en: 'The value is invalid.', ar: 'هذه القيمة غير صالحة.' },
} satisfies Messages

const said = violationMessages

const MESSAGES: Readonly<Record<string, (params: Violation['params']) => LocalizedText>> = {
  required: () => fieldMessages.required,
  type: ({ type }) => said.oneOf(oneOf([type].flat().map(typeName))),
  const: ({ allowedValue }) => said.oneOf(constant(allowedValue)),
  enum: ({ allowedValues }) => said.oneOf(oneOf([allowedValues].flat().map(constant))),
  minimum: ({ limit }) => said.at_least(limit),
  maximum: ({ limit }) => fieldMessages.at_most(Number(limit)),
  minLength: ({ limit }) => (limit === 1 ? said.not_empty : said.min_length(limit)),
  maxLength: ({ limit }) => said.max_length(limit),
  pattern: () => said.invalid_format,
  minItems: ({ limit }) => said.min_items(limit),
  maxItems: ({ limit }) => said.max_items(limit),
  uniqueItems: () => said.same_twice,
}

export function violationMessage(violation: Violation): LocalizedText {
  const { keyword, params, message, data, parentSchema, alternatives } = violation
  if (alternatives !== undefined) return said.oneOf(oneOf(alternatives))
  if (keyword === 'type' && params['type'] === 'string' && Array.isArray(data)) return said.string_once
  if (parentSchema?.[TEXT_FORM] !== undefined && (keyword === 'pattern' || keyword === TEXT_FORM)) {
    return keyword === TEXT_FORM && typeof data === 'string' && !isVisible(data) ? said.not_visible : said.text_rule
  }
  const form = expectedForm(parentSchema)
  if (keyword === 'pattern' && form !== undefined) return said.oneOf(form)
  return (
    MESSAGES[keyword]?.(params) ?? { ...said.invalid, ...(message !== undefined && { en: `The value ${message}.` }) }
  )
}

/** A constant of a schema, the same in every language. */
export function constant(value: unknown): LocalizedText {
  const text = JSON.stringify(value)
  return { en: text, ar: text }
}

const ARABIC_TYPES: ReadonlyMap<string, string> = new Map([
  ['string', 'نصًا'],
  ['integer', 'عددًا صحيحًا'],
  ['number', 'عددًا'],
  ['boolean', 'قيمة منطقية'],
  ['object', 'كائنًا'],
  ['array', 'قائمة'],
  ['null', 'null'],
])

/** A type of JSON as a schema names it; undefined where a schema names none. */
export function typeName(type: unknown): LocalizedText {
  const name = typeof type === 'string' ? type : 'allowed value'
  const ar = ARABIC_TYPES.get(name) ?? 'من القيم المسموح بها'
  if (name === 'null') return { en: name, ar }
  return { en: `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`, ar }
}

const oneOf = (alternatives: readonly LocalizedText[]): LocalizedText => ({
  en: listed(
    alternatives.map(({ en }) => en),
    ', ',
    ' or ',
    'something else',
  ),
  ar: listed(
    alternatives.map(({ ar }) => ar),
    ' أو ',
    ' أو ',
    'غير ذلك',
  ),
})

function listed(alternatives: readonly string[], separator: string, lastSeparator: string, none: string): string {
  const different = [...new Set(alternatives)]
  const last = different.pop() ?? none
  return different.length === 0 ? last : `${different.join(separator)}${lastSeparator}${last}`
}
