import type { Language } from '../../schema/languages.ts'

/**
 * Arabic sentences have the digits 0 to 9, not ٠ to ٩: the amounts and ids next to them have those, and readers of Arabic
 * everywhere know them.
 */
const locales: Readonly<Record<Language, string>> = { en: 'en', ar: 'ar-u-nu-latn' }

/** Made once: making one takes some tens of microseconds. */
const numberFormats: Readonly<Record<Language, Intl.NumberFormat>> = {
  en: new Intl.NumberFormat(locales.en),
  ar: new Intl.NumberFormat(locales.ar),
}
const pluralRules = { en: new Intl.PluralRules(locales.en), ar: new Intl.PluralRules(locales.ar) } as const

/** A number for people, with separators of thousands. */
export const formatNumber = (language: Language, value: number | bigint): string =>
  numberFormats[language].format(value)

/** The forms of a counted noun by plural category; `#` stands for the number. */
export interface PluralForms {
  readonly en: Readonly<Record<'one' | 'other', string>>
  readonly ar: Readonly<Record<'zero' | 'one' | 'two' | 'few' | 'many' | 'other', string>>
}

/** A count with its noun in the form that the language requires, such as `3 days` and `3 أيام`. */
export function formatCount(language: Language, count: number, forms: PluralForms): string {
  const byCategory: Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> = forms[language]
  const form = byCategory[pluralRules[language].select(count)] ?? forms[language].other
  return form.replace('#', formatNumber(language, count))
}

/** The Arabic forms are genitive, as after a preposition: بمبلغ دولارين. */
const wholeDollars: PluralForms = {
  en: { one: '# dollar', other: '# dollars' },
  ar: {
    zero: '# دولار',
    one: 'دولار واحد',
    two: 'دولارين',
    few: '# دولارات',
    many: '# دولارًا',
    other: '# دولار',
  },
}

const dollarsWithCents: Readonly<Record<Language, string>> = { en: 'dollars', ar: 'دولار' }

/** An amount of dollars within a sentence, such as `20 dollars` and `20.50 dollars`, exact to the cent. */
export function formatDollars(language: Language, cents: number): string {
  const dollars = Math.floor(cents / 100)
  if (cents % 100 === 0) return formatCount(language, dollars, wholeDollars)
  const fraction = String(cents % 100).padStart(2, '0')
  return `${formatNumber(language, dollars)}.${fraction} ${dollarsWithCents[language]}`
}
