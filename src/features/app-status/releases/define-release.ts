import type { ClientType, EventData } from '../../../../schema/events.ts'
import { type FieldErrors, fieldMessages } from '../../../language/messages.ts'
import { keyOf } from '../../../ledger/rules/projection.ts'
import { type ExpectedVersion, hasValues, isExpected } from '../../../ledger/rules/stored-values.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { appStatusMessages } from '../messages.ts'
import { mergeTexts, type PartialTexts } from '../texts.ts'
import { type Release, releases, releaseVersion } from './release.ts'
import { isOlder, parseVersion } from './version.ts'

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

const storeLinkErrors = ({ store_link }: Definition): FieldErrors | null =>
  store_link.startsWith('https://') && URL.canParse(store_link) ? null : { store_link: [appStatusMessages.store_link] }

type Definition = EventData<'release-defined'>

function versionErrors({ version, minimum_version }: Definition): FieldErrors | null {
  const newest = parseVersion(version)
  if (newest === null) return { version: [appStatusMessages.unreadable_version] }
  if (minimum_version === null) return null
  const oldest = parseVersion(minimum_version)
  if (oldest === null) return { minimum_version: [appStatusMessages.unreadable_version] }
  return isOlder(newest, oldest) ? { minimum_version: [appStatusMessages.above_version] } : null
}
