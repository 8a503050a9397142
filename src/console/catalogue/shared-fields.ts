import type { LocalizedText } from '../../../schema/languages.ts'
import { givenName, type StoredName } from '../../language/names.ts'
import { type Field, lineField } from '../forms/fields.ts'
import type { Values } from '../forms/values.ts'

/** The fields of a name in one language or two. */
export const nameFields: readonly Field<StoredName>[] = [
  lineField('name', 'Name', 100, ({ name }) => name, { isRequired: true, group: 'name' }),
  lineField('name_ar', 'Name in Arabic', 100, ({ name_ar }) => name_ar ?? '', {
    hint: 'Left empty, the first name is shown in both languages.',
    language: 'ar',
    group: 'name',
  }),
]

/** The name of a body of /admin/v1. */
export const nameIn = ({ name = '', name_ar = '' }: Values) =>
  name === '' ? undefined : givenName({ name, name_ar: name_ar === '' ? null : name_ar })

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

/** What of them was sent, for a body of /admin/v1. */
export const announcementBody = ({ title_en, title_ar, message_en, message_ar }: Values) => ({
  title: { en: title_en, ar: title_ar },
  message: { en: message_en, ar: message_ar },
})
