import { MAX_INTEGER } from '../../../../schema/max-integer.ts'
import { type PrivilegePackage, packageVersion } from '../../../features/privilege/packages/package.ts'
import { packageById, packagesByRank } from '../../../features/privilege/reads.ts'
import { parseId } from '../../../ledger/rules/parse-id.ts'
import type { ConsolePages } from '../../console-services.ts'
import type { Field } from '../../forms/fields.ts'
import { numberIn } from '../../forms/values.ts'
import { type Cell, numberCell, textCell, timeCell } from '../../frame/cells/cells.ts'
import { type PictureSources, pictureCell } from '../../frame/cells/picture-cell.ts'
import { type Editor, editorPages } from '../editor/editor.ts'
import { nameFields, nameIn } from '../name-fields.ts'
import { wholeList } from '../whole-list.ts'

const MAX_RANK = 1_000_000_000
const MAX_DAYS = 36_500

const fields: readonly Field<PrivilegePackage>[] = [
  ...nameFields,
  {
    name: 'rank',
    label: 'Rank',
    hint: 'Higher is better.',
    control: { kind: 'number', min: -MAX_RANK, max: MAX_RANK },
    valueOf: ({ rank }) => String(rank),
  },
  {
    name: 'valid_days',
    label: 'Days that a new card adds',
    hint: 'Cards that were granted before keep theirs.',
    control: { kind: 'number', min: 1, max: MAX_DAYS },
    valueOf: ({ valid_days }) => String(valid_days),
  },
  {
    name: 'icon_path',
    label: 'Icon',
    hint: 'A storage path. A picture that is stored elsewhere is not shown here.',
    control: { kind: 'line', maxLength: 200 },
    valueOf: ({ icon_path }) => icon_path,
  },
]

const pathOf = (id: number): string => `/console/catalogue/packages/${id}`

const iconOf = (sources: PictureSources, { icon_path, name }: PrivilegePackage): Cell =>
  pictureCell(sources, icon_path, `Icon of ${name}`)

const packageList = (sources: PictureSources) =>
  wholeList<PrivilegePackage>({
    label: 'Privilege packages',
    empty: 'There are no packages yet. An operator adds the first one here.',
    columns: [
      {
        name: 'id',
        title: 'Id',
        isNumber: true,
        sort: 'id',
        cell: ({ privilege_package_id: id }) => numberCell(id, pathOf(id)),
      },
      {
        name: 'name',
        title: 'Name',
        sort: 'name',
        cell: ({ privilege_package_id: id, name }) => textCell(name, pathOf(id)),
      },
      { name: 'name_ar', title: 'Name in Arabic', cell: ({ name_ar }) => textCell(name_ar) },
      { name: 'rank', title: 'Rank', isNumber: true, sort: 'rank', cell: ({ rank }) => numberCell(rank) },
      {
        name: 'valid_days',
        title: 'Days of a card',
        isNumber: true,
        sort: 'days',
        cell: ({ valid_days }) => numberCell(valid_days),
      },
      { name: 'icon_path', title: 'Icon', cell: (one) => iconOf(sources, one) },
      { name: 'created_at', title: 'Added', cell: ({ created_at }) => timeCell(created_at) },
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
  list: packageList(sources),
  key: { label: 'Id', control: { kind: 'number', min: 1, max: MAX_INTEGER } },
  isKey: (text) => parseId(text) !== null,
  nextKey: async (db) =>
    String(Math.max(0, ...(await packagesByRank(db)).map(({ privilege_package_id }) => privilege_package_id)) + 1),
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
