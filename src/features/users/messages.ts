import type { Messages } from '../../language/messages.ts'

/** What clients and operators read about the devices of users. */
export const userMessages = {
  device_removed: { en: 'The device was removed.', ar: 'تمت إزالة الجهاز.' },
} satisfies Messages
