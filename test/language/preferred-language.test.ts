import { test } from 'tap'
import { preferredLanguage } from '../../src/language/request-language.ts'

test('the supported language with the highest quality is chosen', async (t) => {
  const rows: readonly (readonly [string, 'en' | 'ar'])[] = [
    ['ar', 'ar'],
    ['en', 'en'],
    ['AR', 'ar'],
    ['ar-EG', 'ar'],
    ['ar_SA', 'ar'],
    ['arz', 'en'],
    ['fr', 'en'],
    ['', 'en'],
    [',;q=1,', 'en'],
    ['ar, en', 'ar'],
    ['en, ar', 'en'],
    ['en;q=0.5, ar;q=0.6', 'ar'],
    ['ar;q=0.5,en;q=0.6', 'en'],
    ['ar;q=0.5, en', 'en'],
    ['fr-CH, fr;q=0.9, ar;q=0.8, de;q=0.7, *;q=0.5', 'ar'],
    ['fr, en-GB;q=0.1, ar;q=0.2', 'ar'],
    ['ar;q=0.001', 'ar'],
    ['ar;q=0', 'en'],
    ['ar;q=0, *', 'en'],
    ['en;q=0, *;q=0.1', 'ar'],
    ['en;q=0', 'en'],
    ['*', 'en'],
    ['*;q=0.9, ar;q=0.5', 'en'],
    ['ar;q=high, en;q=0.1', 'en'],
    ['ar;q=2, en;q=0.1', 'en'],
    ['ar; q=0.9 , en ; q=0.8', 'ar'],
    ['en;level=1;q=0.4, ar;q=0.5', 'ar'],
    [`${'fr,'.repeat(1_000)}ar`, 'en'],
  ]
  for (const [list, language] of rows) t.equal(preferredLanguage(list), language, list.slice(0, 60))
})
