import type { AppStatus } from '../../../schema/app-status.ts'
import type { EventData } from '../../../schema/events.ts'
import type { Language, LocalizedText } from '../../../schema/languages.ts'
import { AccessPolicy, type Client } from '../../features/app-status/access-policy.ts'
import { type Field, lineField, type Values } from '../layout/fields.ts'

/** What some clients are shown, in one language. */
interface ShownAnswer {
  readonly language: Language
  readonly direction: 'ltr' | 'rtl'
  readonly title: string
  readonly message: string
  /** What the button that leads to the store says; null without an update. */
  readonly update: string | null
  /** The body, as it is sent. */
  readonly body: string
}

/** What some clients get. */
interface ClientView {
  readonly who: string
  /** The status of other requests; GET /app-status always answers 200. */
  readonly status: 200 | 426 | 503
  /** Empty: they may use the app and are shown nothing. */
  readonly answers: readonly ShownAnswer[]
}

const languages: readonly Language[] = ['en', 'ar']

type Mode = EventData<'app-mode-set'>
type Release = EventData<'release-defined'>

/** What clients see under a mode and releases: one view for each kind of client that is treated differently. */
export function clientViews(mode: Mode, releases: readonly Release[]): readonly ClientView[] {
  const policy = new AccessPolicy(mode, releases)
  const { maintenance, unidentified } = policy
  const view = (who: string, status: ClientView['status'], bodyIn: (language: Language) => AppStatus): ClientView => ({
    who,
    status,
    answers: languages.map((language) => shown(language, bodyIn(language))).filter((answer) => answer !== null),
  })
  if (maintenance !== null) {
    return [view('Every client', maintenance.en.status, (language) => maintenance[language].body)]
  }
  const statusFor = (client: Client) => (language: Language) => policy.appStatusFor(client, language)
  return [
    unidentified === null
      ? { who: 'Clients that say no type and version', status: 200, answers: [] }
      : view('Clients that say no type and version', unidentified.en.status, (language) => unidentified[language].body),
    ...releases.flatMap(({ client_type: type, version, minimum_version }) => [
      ...(minimum_version === null
        ? []
        : [view(`${type} before ${minimum_version}`, 426, statusFor({ type, version: null }))]),
      ...(minimum_version === version
        ? []
        : [view(`Other ${type} before ${version}`, 200, statusFor({ type, version: minimum_version }))]),
    ]),
  ]
}

/** Views of one client type alone. */
export const releaseViews = (release: Release): readonly ClientView[] =>
  clientViews(openMode, [release]).filter(({ answers }) => answers.length > 0)

const openMode: Mode = {
  maintenance: false,
  title: { en: '', ar: '' },
  message: { en: '', ar: '' },
  block_unidentified: null,
}

function shown(language: Language, body: AppStatus): ShownAnswer | null {
  if (body.type === 'none') return null
  return {
    language,
    direction: language === 'ar' ? 'rtl' : 'ltr',
    title: body.data.title,
    message: body.data.message,
    update: body.type === 'update' ? body.data.version : null,
    body: JSON.stringify(body, null, 2),
  }
}

/** What clients are shown. */
interface Announcement {
  readonly title: LocalizedText
  readonly message: LocalizedText
}

/** The fields of what clients are shown, in both languages. `first` is what the form of a new one begins with. */
export const announcementFields = (first?: Announcement): readonly Field<Announcement>[] => {
  const ar = { language: 'ar', isRequired: true } as const
  const lines = { kind: 'lines', isRequired: true } as const
  const begin = (text: string | undefined) => (text === undefined ? {} : { valueOfNew: text })
  return [
    lineField('title_en', 'Title in English', 100, ({ title }) => title.en, {
      isRequired: true,
      ...begin(first?.title.en),
    }),
    lineField('title_ar', 'Title in Arabic', 100, ({ title }) => title.ar, { ...ar, ...begin(first?.title.ar) }),
    lineField('message_en', 'Message in English', 500, ({ message }) => message.en, {
      ...lines,
      ...begin(first?.message.en),
    }),
    lineField('message_ar', 'Message in Arabic', 500, ({ message }) => message.ar, {
      ...lines,
      ...ar,
      ...begin(first?.message.ar),
    }),
  ]
}

/** What was typed into `announcementFields`. */
export const announcementIn = ({
  title_en = '',
  title_ar = '',
  message_en = '',
  message_ar = '',
}: Values): Announcement => ({ title: { en: title_en, ar: title_ar }, message: { en: message_en, ar: message_ar } })

/** The parts of an announcement that were sent, for a body of /admin/v1. */
export const announcementBody = ({ title_en, title_ar, message_en, message_ar }: Values) => ({
  title: { en: title_en, ar: title_ar },
  message: { en: message_en, ar: message_ar },
})
