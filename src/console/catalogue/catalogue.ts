import { currentMode } from '../../features/app-status/reads.ts'
import { allDecorations } from '../../features/gifts/reads.ts'
import { type PrivilegePackage, packageVersion } from '../../features/privilege/package.ts'
import { packageById, packagesByRank } from '../../features/privilege/reads.ts'
import { countryVersion } from '../../features/users/country.ts'
import { allCountries, type CountryRow, countryById } from '../../features/users/reads.ts'
import type { ConsolePages } from '../console-services.ts'
import { FOUR_EYES } from '../layout/action.ts'
import {
  type Cell,
  numberCell,
  type PictureSources,
  pictureCell,
  statusCell,
  textCell,
  timeCell,
} from '../layout/cells.ts'
import { type Field, lineField, numberField, numberIn } from '../layout/fields.ts'
import { pagePath } from '../layout/links.ts'
import { sendSections } from '../layout/page.ts'
import { column, numberColumn } from '../lists/list.ts'
import { appModePages } from './app-mode.ts'
import { type Editor, editorPages } from './editor.ts'
import { giftPages } from './gifts.ts'
import { allReleases, releasePages } from './releases.ts'
import { isNumber, nameFields, nameIn, numbered, wholeList } from './whole-list.ts'

/** /console/catalogue: what there is to give and to buy, and which clients may use the app. */
export const cataloguePages: ConsolePages = (scope, services) => {
  scope.get('/catalogue', async (request, reply) => {
    const [gifts, packages, countries, releases, mode] = await Promise.all([
      allDecorations(services.db),
      packagesByRank(services.db),
      allCountries(services.db),
      allReleases(services.db),
      currentMode(services.db),
    ])
    const isOn = mode?.maintenance === true
    return sendSections(request, reply, {
      title: 'Catalogue',
      tab: '/console/catalogue',
      sections: [
        {
          lead: 'What users can be given and buy, and which clients may use the app.',
          facts: [
            ['Gifts', numberCell(gifts.length, '/console/catalogue/gifts')],
            ['Privilege packages', numberCell(packages.length, '/console/catalogue/packages')],
            ['Countries', numberCell(countries.length, '/console/catalogue/countries')],
            ['Releases', numberCell(releases.length, '/console/catalogue/releases')],
            ['Maintenance', statusCell(isOn ? 'on' : 'off', isOn ? 'waiting' : 'good', '/console/catalogue/app-mode')],
          ],
        },
        { note: FOUR_EYES },
      ],
    })
  })
  for (const addPages of [giftPages, packagePages, countryPages, releasePages, appModePages]) addPages(scope, services)
}

const countryList = wholeList<CountryRow>({
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

const countryEditor: Editor<CountryRow> = {
  path: '/catalogue/countries',
  adminPath: '/countries',
  noun: 'country',
  many: numbered(countryList, async (db) => (await allCountries(db)).map(({ country_id }) => country_id)),
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
const countryPages: ConsolePages = (scope, services) => editorPages(scope, services, countryEditor)

const MAX_RANK = 1_000_000_000
const MAX_DAYS = 36_500

const packageFields: readonly Field<PrivilegePackage>[] = [
  ...nameFields,
  numberField('rank', 'Rank', [-MAX_RANK, MAX_RANK], ({ rank }) => rank, 'Higher is better.'),
  numberField(
    'valid_days',
    'Days that a new card adds',
    [1, MAX_DAYS],
    ({ valid_days }) => valid_days,
    'Cards that were granted before keep theirs.',
  ),
  lineField('icon_path', 'Icon', 200, ({ icon_path }) => icon_path, {
    hint: 'A storage path. A picture that is stored elsewhere is not shown here.',
  }),
]

const iconOf = (sources: PictureSources, { icon_path, name }: PrivilegePackage): Cell =>
  pictureCell(sources, icon_path, `Icon of ${name}`)

const packageList = (sources: PictureSources) =>
  wholeList<PrivilegePackage>({
    label: 'Privilege packages',
    empty: 'There are no packages yet. An operator adds the first one here.',
    columns: [
      numberColumn('id', 'Id', ({ privilege_package_id: id }) => numberCell(id, pagePath('package', id)), 'id'),
      column('name', 'Name', ({ privilege_package_id: id, name }) => textCell(name, pagePath('package', id)), 'name'),
      column('name_ar', 'Name in Arabic', ({ name_ar }) => textCell(name_ar)),
      numberColumn('rank', 'Rank', ({ rank }) => numberCell(rank), 'rank'),
      numberColumn('valid_days', 'Days of a card', ({ valid_days }) => numberCell(valid_days), 'days'),
      column('icon_path', 'Icon', (one) => iconOf(sources, one)),
      column('created_at', 'Added', ({ created_at }) => timeCell(created_at)),
    ],
    all: packagesByRank,
    order: {
      id: ({ privilege_package_id }) => privilege_package_id,
      name: ({ name }) => name,
      rank: ({ rank }) => rank,
      days: ({ valid_days }) => valid_days,
    },
  })

const packageEditor = (sources: PictureSources): Editor<PrivilegePackage> => ({
  path: '/catalogue/packages',
  adminPath: '/privilege-packages',
  noun: 'package',
  many: numbered(packageList(sources), async (db) =>
    (await packagesByRank(db)).map(({ privilege_package_id }) => privilege_package_id),
  ),
  isKey: isNumber,
  find: (db, key) => packageById(db, Number(key)),
  titleOf: ({ privilege_package_id, name }) => `Package ${privilege_package_id}: ${name}`,
  facts: (one) => [
    ['Id', numberCell(one.privilege_package_id)],
    ['Name', textCell(one.name)],
    ['Name in Arabic', textCell(one.name_ar)],
    ['Rank', numberCell(one.rank)],
    ['Days that a new card adds', numberCell(one.valid_days)],
    ['Icon', iconOf(sources, one)],
    ['Added', timeCell(one.created_at)],
  ],
  fields: packageFields,
  versionOf: packageVersion,
  bodyOf: (values) => ({
    name: nameIn(values),
    rank: numberIn(values['rank']),
    valid_days: numberIn(values['valid_days']),
    icon_path: values['icon_path'],
  }),
})

/** /console/catalogue/packages: the packages of privileges. */
const packagePages: ConsolePages = (scope, services) => editorPages(scope, services, packageEditor(services))
