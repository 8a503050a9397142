import type { Language } from '../../schema/languages.ts'
import { formatCount, formatNumber, type PluralForms } from './numbers.ts'

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
