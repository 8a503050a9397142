import type { ClientType, EventData } from '../../../schema/events.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import { type FieldErrors, fieldMessages, type Messages } from '../../language/messages.ts'
import type { Evolver } from '../../ledger/rules/event.ts'
import { integer, json, keyOf, micros, nullable, projection, type RowOf, text } from '../../ledger/rules/projection.ts'
import { type ExpectedVersion, hasValues, isExpected, versionOfValues } from '../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { mergeTexts, type PartialTexts } from './mode.ts'
import { isOlder, parseVersion } from './version.ts'

/** The release that clients of a type are asked to update to. */
export const releases = projection('app_releases', {
  client_type: text<ClientType>(),
  version: text(),
  /** Clients below this version are refused; null refuses none. */
  minimum_version: nullable(text()),
  store_link: text(),
  title: json<LocalizedText>(),
  message: json<LocalizedText>(),
  created_at: micros(),
  updated_at: micros(),
  /** The position of the event that created it. */
  created: integer(),
})

export type Release = RowOf<typeof releases>

/** The version of what defining a release sets. */
export const releaseVersion = ({ version, minimum_version, store_link, title, message }: Release): string =>
  versionOfValues({ version, minimum_version, store_link, title, message })

export const evolveReleases: Evolver = {
  'release-defined': (state, { data, at, position }) => {
    const before = state.get(releases, data.client_type)
    state.set(releases, data.client_type, {
      ...data,
      created_at: before?.created_at ?? at,
      updated_at: at,
      created: before?.created ?? position,
    })
  },
  'release-removed': (state, { data }) => state.set(releases, data.client_type, undefined),
}

/** Omitted fields keep their values. */
export interface DefineRelease {
  readonly client_type: ClientType
  readonly version?: string | undefined
  readonly minimum_version?: string | null | undefined
  readonly store_link?: string | undefined
  readonly title?: PartialTexts | undefined
  readonly message?: PartialTexts | undefined
  readonly expected?: ExpectedVersion | undefined
}

/** What clients show of a new release whose definition says nothing else. */
export const firstTexts = {
  title: { en: 'Update available', ar: 'يتوفر تحديث' },
  message: { en: 'Please install the new version.', ar: 'يرجى تثبيت الإصدار الجديد.' },
}

const defaults = { ...firstTexts, minimum_version: null, store_link: '' }

const refusals = ['precondition_failed', 'validation_failed'] as const

/**
 * Creates or changes the release of a client type; an identical definition writes no event. Refusals:
 * `precondition_failed` (another version of it is stored), `validation_failed` (a missing or malformed version, a minimum
 * above it, no https address of a store).
 */
export const defineRelease: Verb<DefineRelease, Release, typeof refusals> = {
  refusals,
  reads: ({ client_type }) => [keyOf(releases, client_type)],

  decide(state, input) {
    const { client_type } = input
    const before = state.get(releases, client_type)
    if (!isExpected(input.expected, before, releaseVersion)) return refuse('precondition_failed')
    const { minimum_version, store_link, title, message } = before ?? defaults
    const version = input.version ?? before?.version
    if (version === undefined) return refuse('validation_failed', { version: [fieldMessages.required] })
    const data = {
      client_type,
      version,
      minimum_version: input.minimum_version === undefined ? minimum_version : input.minimum_version,
      store_link: input.store_link ?? store_link,
      title: mergeTexts(title, input.title),
      message: mergeTexts(message, input.message),
    }
    const errors = versionErrors(data) ?? storeLinkErrors(data)
    if (errors !== null) return refuse('validation_failed', errors)
    if (before !== undefined && hasValues(before, data)) return []
    return [{ type: 'release-defined', data, movements: [] }]
  },

  result(state, { client_type }) {
    const defined = state.get(releases, client_type)
    if (defined === undefined) throw new Error(`the release of ${client_type} was not defined`)
    return defined
  },
}

const messages = {
  unreadable_version: { en: 'The version cannot be read.', ar: 'تعذرت قراءة رقم الإصدار.' },
  above_version: { en: 'The value must not be above version.', ar: 'يجب ألا يكون أعلى من version.' },
  store_link: {
    en: 'The value must be an address that begins with https://.',
    ar: 'يجب أن يكون عنوانًا يبدأ بـ https://.',
  },
} satisfies Messages

type Definition = EventData<'release-defined'>

const storeLinkErrors = ({ store_link }: Definition): FieldErrors | null =>
  store_link.startsWith('https://') && URL.canParse(store_link) ? null : { store_link: [messages.store_link] }

function versionErrors({ version, minimum_version }: Definition): FieldErrors | null {
  const newest = parseVersion(version)
  if (newest === null) return { version: [messages.unreadable_version] }
  if (minimum_version === null) return null
  const oldest = parseVersion(minimum_version)
  if (oldest === null) return { minimum_version: [messages.unreadable_version] }
  return isOlder(newest, oldest) ? { minimum_version: [messages.above_version] } : null
}

const removeRefusals = ['precondition_failed', 'not_found'] as const

/**
 * Clients of this type are no longer asked to update. Refusals: `precondition_failed` (another version of it is stored, or
 * none), `not_found`.
 */
export const removeRelease: Verb<Pick<DefineRelease, 'client_type' | 'expected'>, null, typeof removeRefusals> = {
  refusals: removeRefusals,
  reads: ({ client_type }) => [keyOf(releases, client_type)],

  decide: (state, { client_type, expected }) => {
    const before = state.get(releases, client_type)
    if (!isExpected(expected, before, releaseVersion)) return refuse('precondition_failed')
    if (before === undefined) return refuse('not_found')
    return [{ type: 'release-removed', data: { client_type }, movements: [] }]
  },

  result: () => null,
}
