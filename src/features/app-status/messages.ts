import type { Messages } from '../../language/messages.ts'

/** What operators read about releases. */
export const appStatusMessages = {
  unreadable_version: { en: 'The version cannot be read.', ar: 'تعذرت قراءة رقم الإصدار.' },
  above_version: { en: 'The value must not be above version.', ar: 'يجب ألا يكون أعلى من version.' },
  store_link: {
    en: 'The value must be an address that begins with https://.',
    ar: 'يجب أن يكون عنوانًا يبدأ بـ https://.',
  },
  release_removed: { en: 'The release was removed.', ar: 'تم حذف الإصدار.' },
} satisfies Messages
