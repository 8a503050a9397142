import type { Messages } from '../../language/messages.ts'

/** What staff read about forms of verifications. */
export const verifyMessages = {
  no_checkpoint: {
    en: 'Expected the text of a checkpoint file, which is JSON.',
    ar: 'يجب إدخال نص ملف نقطة تحقق، وهو بصيغة JSON.',
  },
} satisfies Messages
