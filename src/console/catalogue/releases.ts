import { Value } from '@sinclair/typebox/value'
import type { Kysely } from 'kysely'
import { ClientType } from '../../../schema/events.ts'
import type { Tables } from '../../db/tables.ts'
import { findRelease, newestReleases } from '../../features/app-status/reads.ts'
import { firstTexts, type Release, releaseVersion } from '../../features/app-status/release.ts'
import { isOlder, parseVersion } from '../../features/app-status/version.ts'
import type { ConsolePages } from '../console-services.ts'
import { codeCell, statusCell, textCell, timeCell } from '../layout/cells.ts'
import { type Field, lineField, textIn, type Values } from '../layout/fields.ts'
import { pagePath } from '../layout/links.ts'
import type { Part } from '../layout/page.ts'
import { column } from '../lists/list.ts'
import { announcementBody, announcementFields, announcementIn, releaseViews } from './announcements.ts'
import { type Editor, editorPages } from './editor.ts'
import { wholeList } from './whole-list.ts'

const MAX_VERSION_LENGTH = 64

export const clientTypes = ['android', 'ios', 'flutter'] as const

/** There is at most one for each type of client. */
export const allReleases = (db: Kysely<Tables>): Promise<Release[]> => newestReleases(db, clientTypes.length, null)

const fields: readonly Field<Release>[] = [
  lineField('version', 'Newest version', MAX_VERSION_LENGTH, ({ version }) => version, {
    hint: 'Older clients are asked to update.',
    isRequired: true,
  }),
  lineField(
    'minimum_version',
    'Oldest version that may be used',
    MAX_VERSION_LENGTH,
    ({ minimum_version }) => minimum_version ?? '',
    { hint: 'Clients before it are refused until they update. Empty: none is refused.' },
  ),
  lineField('store_link', 'Address in the store', 500, ({ store_link }) => store_link, {
    hint: 'Begins with https://',
    isRequired: true,
  }),
  ...announcementFields(firstTexts),
]

const list = wholeList<Release>({
  label: 'Releases',
  empty: 'There are no releases: no client is asked to update. An operator adds one for each type of client.',
  columns: [
    column(
      'client_type',
      'Client',
      ({ client_type }) => textCell(client_type, pagePath('release', client_type)),
      'client',
    ),
    column('version', 'Newest version', ({ version }) => codeCell(version)),
    column('minimum_version', 'Oldest that may be used', ({ minimum_version }) =>
      minimum_version === null ? textCell('all may be used') : codeCell(minimum_version),
    ),
    column('title', 'Title', ({ title }) => textCell(title.en)),
    column('title_ar', 'Title in Arabic', ({ title }) => textCell(title.ar)),
    column('store_link', 'Store', ({ store_link }) => codeCell(store_link)),
    column('updated_at', 'Changed', ({ updated_at }) => timeCell(updated_at)),
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
  return {
    client_type: Value.Check(ClientType, key) ? key : clientTypes[0],
    version: values['version'] ?? '',
    minimum_version: textIn(values['minimum_version']) ?? null,
    store_link: values['store_link'] ?? '',
    ...announcementIn(values),
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
  many: {
    list,
    key: { label: 'Client', control: { kind: 'choice', options: clientTypes.map((type) => [type, type]) } },
    nextKey: async (db) => {
      const defined = (await allReleases(db)).map(({ client_type }) => client_type)
      return clientTypes.find((type) => !defined.includes(type)) ?? clientTypes[0]
    },
    removal: 'Its clients are no longer asked to update, and none is refused for its version.',
  },
  isKey: (text) => Value.Check(ClientType, text),
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
    ...announcementBody(values),
  }),
  parts: {
    shown: (release) => views('What clients see now', release),
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
