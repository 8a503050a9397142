import { countryVersion } from '../../features/users/country.ts'
import { allCountries, type CountryRow, countryById } from '../../features/users/reads.ts'
import type { ConsolePages } from '../console-services.ts'
import { numberCell, textCell, timeCell } from '../frame/cells.ts'
import { pagePath } from '../frame/links.ts'
import { column, numberColumn } from '../lists/list.ts'
import { type Editor, editorPages } from './editor.ts'
import { nameFields, nameIn } from './shared-fields.ts'
import { isNumber, numbered, wholeList } from './whole-list.ts'

const list = wholeList<CountryRow>({
  label: 'Countries',
  empty: 'There are no countries yet. An operator adds the first one here; charging agents serve countries.',
  columns: [
    numberColumn('id', 'Id', ({ country_id }) => numberCell(country_id, pagePath('country', country_id)), 'id'),
    column('name', 'Name', ({ country_id, name }) => textCell(name, pagePath('country', country_id)), 'name'),
    column('name_ar', 'Name in Arabic', ({ name_ar }) => textCell(name_ar)),
    column('created_at', 'Added', ({ created_at }) => timeCell(created_at)),
  ],
  all: allCountries,
  order: { id: ({ country_id }) => country_id, name: ({ name }) => name },
})

const editor: Editor<CountryRow> = {
  path: '/catalogue/countries',
  adminPath: '/countries',
  noun: 'country',
  many: numbered(list, async (db) => (await allCountries(db)).map(({ country_id }) => country_id)),
  isKey: isNumber,
  find: (db, key) => countryById(db, Number(key)),
  titleOf: ({ country_id, name }) => `Country ${country_id}: ${name}`,
  facts: ({ country_id, name, name_ar, created_at }) => [
    ['Id', numberCell(country_id)],
    ['Name', textCell(name)],
    ['Name in Arabic', textCell(name_ar)],
    ['Added', timeCell(created_at)],
  ],
  fields: nameFields,
  versionOf: countryVersion,
  bodyOf: (values) => ({ name: nameIn(values) }),
}

/** /console/catalogue/countries: the countries that charging agents serve. */
export const countryPages: ConsolePages = (scope, services) => editorPages(scope, services, editor)
