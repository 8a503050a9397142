import { Value } from '@sinclair/typebox/value'
import type { Kysely } from 'kysely'
import { ClientType } from '../../../../schema/events.ts'
import type { Tables } from '../../../db/tables.ts'
import { findRelease, newestReleases } from '../../../features/app-status/reads.ts'
import { firstTexts } from '../../../features/app-status/releases/define-release.ts'
import { type Release, releaseVersion } from '../../../features/app-status/releases/release.ts'
import { isOlder, parseVersion } from '../../../features/app-status/releases/version.ts'
import type { ConsolePages } from '../../console-services.ts'
import type { Field } from '../../forms/fields.ts'
import { textIn, type Values } from '../../forms/values.ts'
import { codeCell, statusCell, textCell, timeCell } from '../../frame/cells/cells.ts'
import { releaseViews } from '../client-views.ts'
import { type Editor, editorPages, type Part } from '../editor/editor.ts'
import { wholeList } from '../whole-list.ts'

const MAX_VERSION_LENGTH = 64

export const clientTypes = ['android', 'ios', 'flutter'] as const

/** There is at most one for each type of client. */
export const allReleases = (db: Kysely<Tables>): Promise<Release[]> => newestReleases(db, clientTypes.length, null)

const fields: readonly Field<Release>[] = [
  {
    name: 'version',
    label: 'Newest version',
    hint: 'Older clients are asked to update.',
    control: { kind: 'line', maxLength: MAX_VERSION_LENGTH, isRequired: true },
    valueOf: ({ version }) => version,
  },
  {
    name: 'minimum_version',
    label: 'Oldest version that may be used',
    hint: 'Clients before it are refused until they update. Empty: none is refused.',
    control: { kind: 'line', maxLength: MAX_VERSION_LENGTH },
    valueOf: ({ minimum_version }) => minimum_version ?? '',
  },
  {
    name: 'store_link',
    label: 'Address in the store',
    hint: 'Begins with https://',
    control: { kind: 'line', maxLength: 500, isRequired: true },
    valueOf: ({ store_link }) => store_link,
  },
  {
    name: 'title_en',
    label: 'Title in English',
    control: { kind: 'line', maxLength: 100, isRequired: true },
    valueOf: ({ title }) => title.en,
    valueOfNew: firstTexts.title.en,
  },
  {
    name: 'title_ar',
    label: 'Title in Arabic',
    control: { kind: 'line', maxLength: 100, isRequired: true, language: 'ar' },
    valueOf: ({ title }) => title.ar,
    valueOfNew: firstTexts.title.ar,
  },
  {
    name: 'message_en',
    label: 'Message in English',
    control: { kind: 'lines', maxLength: 500, isRequired: true },
    valueOf: ({ message }) => message.en,
    valueOfNew: firstTexts.message.en,
  },
  {
    name: 'message_ar',
    label: 'Message in Arabic',
    control: { kind: 'lines', maxLength: 500, isRequired: true, language: 'ar' },
    valueOf: ({ message }) => message.ar,
    valueOfNew: firstTexts.message.ar,
  },
]

const pathOf = (type: string): string => `/console/catalogue/releases/${type}`

const list = wholeList<Release>({
  label: 'Releases',
  empty: 'There are no releases: no client is asked to update. An operator adds one for each type of client.',
  columns: [
    {
      name: 'client_type',
      title: 'Client',
      sort: 'client',
      cell: ({ client_type }) => textCell(client_type, pathOf(client_type)),
    },
    { name: 'version', title: 'Newest version', cell: ({ version }) => codeCell(version) },
    {
      name: 'minimum_version',
      title: 'Oldest that may be used',
      cell: ({ minimum_version }) =>
        minimum_version === null ? textCell('all may be used') : codeCell(minimum_version),
    },
    { name: 'title', title: 'Title', cell: ({ title }) => textCell(title.en) },
    { name: 'title_ar', title: 'Title in Arabic', cell: ({ title }) => textCell(title.ar) },
    { name: 'store_link', title: 'Store', cell: ({ store_link }) => codeCell(store_link) },
    { name: 'updated_at', title: 'Changed', cell: ({ updated_at }) => timeCell(updated_at) },
  ],
  all: allReleases,
  order: { client: ({ client_type }) => client_type },
})

const views = (heading: string, release: Parameters<typeof releaseViews>[0]): Part => ({
  template: '/catalogue/client-views.eta',
  data: { heading, views: releaseViews(release) },
})

/** What the fields of a form come to, where the version can be read. */
function typedRelease(values: Values, key: string) {
  const client_type = Value.Check(ClientType, key) ? key : clientTypes[0]
  const text = (name: string): string => values[name] ?? ''
  return {
    client_type,
    version: text('version'),
    minimum_version: textIn(values['minimum_version']) ?? null,
    store_link: text('store_link'),
    title: { en: text('title_en'), ar: text('title_ar') },
    message: { en: text('message_en'), ar: text('message_ar') },
  }
}

function versionProblems({ version, minimum_version }: Pick<Release, 'version' | 'minimum_version'>): string[] {
  if (version === '') return []
  const newest = parseVersion(version)
  const oldest = minimum_version === null ? null : parseVersion(minimum_version)
  if (newest === null) return ['Newest version: numbers with dots between them, such as 1.10.2.']
  if (minimum_version === null) return []
  if (oldest === null) return ['Oldest version that may be used: numbers with dots between them, such as 1.10.2.']
  return isOlder(newest, oldest) ? ['The oldest version that may be used must not be above the newest one.'] : []
}

const editor: Editor<Release> = {
  path: '/catalogue/releases',
  adminPath: '/releases',
  noun: 'release',
  list,
  key: { label: 'Client', control: { kind: 'choice', options: clientTypes.map((type) => [type, type]) } },
  isKey: (text) => Value.Check(ClientType, text),
  nextKey: async (db) => {
    const defined = (await allReleases(db)).map(({ client_type }) => client_type)
    return clientTypes.find((type) => !defined.includes(type)) ?? clientTypes[0]
  },
  find: async (db, key) => (Value.Check(ClientType, key) ? findRelease(db, key) : undefined),
  titleOf: ({ client_type }) => `Release of ${client_type}`,
  facts: ({ client_type, version, minimum_version, store_link, created_at, updated_at }) => [
    ['Client', statusCell(client_type)],
    ['Newest version', codeCell(version)],
    ['Oldest that may be used', minimum_version === null ? textCell('all may be used') : codeCell(minimum_version)],
    ['Store', codeCell(store_link)],
    ['Added', timeCell(created_at)],
    ['Changed', timeCell(updated_at)],
  ],
  fields,
  versionOf: releaseVersion,
  bodyOf: (values) => ({
    version: values['version'],
    minimum_version: values['minimum_version'] === '' ? null : values['minimum_version'],
    store_link: values['store_link'],
    title: { en: values['title_en'], ar: values['title_ar'] },
    message: { en: values['message_en'], ar: values['message_ar'] },
  }),
  canBeRemoved: true,
  parts: {
    names: [],
    valuesOf: () => ({}),
    shown: (release) => views('What clients see now', release),
    inputs: () => null,
    review: async (values, _row, _db, key) => {
      const release = typedRelease(values, key)
      const problems = versionProblems(release)
      const isRead = parseVersion(release.version) !== null && problems.length === 0
      const part = views('What clients would see', isRead ? release : { ...release, version: '0' })
      return { part, problems, isChange: false }
    },
  },
}

/** /console/catalogue/releases: which versions of the app may be used, and which are asked to update. */
export const releasePages: ConsolePages = (scope, services) => editorPages(scope, services, editor)
