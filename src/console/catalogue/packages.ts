import { type PrivilegePackage, packageVersion } from '../../features/privilege/package.ts'
import { packageById, packagesByRank } from '../../features/privilege/reads.ts'
import type { ConsolePages } from '../console-services.ts'
import { type Field, lineField, numberField } from '../forms/fields.ts'
import { numberIn } from '../forms/values.ts'
import { type Cell, numberCell, textCell, timeCell } from '../frame/cells.ts'
import { pagePath } from '../frame/links.ts'
import { type PictureSources, pictureCell } from '../frame/picture-cell.ts'
import { column, numberColumn } from '../lists/list.ts'
import { type Editor, editorPages } from './editor.ts'
import { nameFields, nameIn } from './shared-fields.ts'
import { isNumber, numbered, wholeList } from './whole-list.ts'

const MAX_RANK = 1_000_000_000
const MAX_DAYS = 36_500

const fields: readonly Field<PrivilegePackage>[] = [
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
  fields,
  versionOf: packageVersion,
  bodyOf: (values) => ({
    name: nameIn(values),
    rank: numberIn(values['rank']),
    valid_days: numberIn(values['valid_days']),
    icon_path: values['icon_path'],
  }),
})

/** /console/catalogue/packages: the packages of privileges. */
export const packagePages: ConsolePages = (scope, services) => editorPages(scope, services, packageEditor(services))
