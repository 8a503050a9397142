import type { Messages } from '../../language/messages.ts'

/** What staff read about the steps of a closing. */
export const reportMessages = {
  steps_running: {
    en: 'A step of a closing is running. Wait for its end, or stop it.',
    ar: 'توجد خطوة إقفال قيد التنفيذ. انتظر انتهاءها أو أوقفها.',
  },
} satisfies Messages
