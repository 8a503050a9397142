import { MAX_INTEGER } from '../../../../schema/max-integer.ts'
import { countryVersion } from '../../../features/users/countries/country.ts'
import { allCountries, type CountryRow, countryById } from '../../../features/users/reads.ts'
import { parseId } from '../../../ledger/rules/parse-id.ts'
import type { ConsolePages } from '../../console-services.ts'
import { numberCell, textCell, timeCell } from '../../frame/cells/cells.ts'
import { type Editor, editorPages } from '../editor/editor.ts'
import { nameFields, nameIn } from '../name-fields.ts'
import { wholeList } from '../whole-list.ts'

const pathOf = (id: number): string => `/console/catalogue/countries/${id}`

const list = wholeList<CountryRow>({
  label: 'Countries',
  empty: 'There are no countries yet. An operator adds the first one here; charging agents serve countries.',
  columns: [
    {
      name: 'id',
      title: 'Id',
      isNumber: true,
      sort: 'id',
      cell: ({ country_id }) => numberCell(country_id, pathOf(country_id)),
    },
    {
      name: 'name',
      title: 'Name',
      sort: 'name',
      cell: ({ country_id, name }) => textCell(name, pathOf(country_id)),
    },
    { name: 'name_ar', title: 'Name in Arabic', cell: ({ name_ar }) => textCell(name_ar) },
    { name: 'created_at', title: 'Added', cell: ({ created_at }) => timeCell(created_at) },
  ],
  all: allCountries,
  order: { id: ({ country_id }) => country_id, name: ({ name }) => name },
})

const editor: Editor<CountryRow> = {
  path: '/catalogue/countries',
  adminPath: '/countries',
  noun: 'country',
  list,
  key: { label: 'Id', control: { kind: 'number', min: 1, max: MAX_INTEGER } },
  isKey: (text) => parseId(text) !== null,
  nextKey: async (db) => String(Math.max(0, ...(await allCountries(db)).map(({ country_id }) => country_id)) + 1),
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
