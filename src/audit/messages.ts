import type { Messages } from '../language/messages.ts'
import { formatNumber } from '../language/numbers.ts'

/** What finance reads about queries that cannot be answered. Command lines speak English. */
export const auditMessages = {
  ledger_end: (head: number) => ({
    en: `the ledger ends at position ${head}`,
    ar: `ينتهي السجل عند الموضع ${formatNumber('ar', head)}.`,
  }),
  before_from: { en: 'must not be before from', ar: 'يجب ألا تسبق نهاية الفترة بدايتها.' },
  no_user: (id: number) => ({ en: `there is no user ${id}`, ar: `لا يوجد مستخدم بالمعرّف ${id}.` }),
  as_of: (format: string) => ({
    en: `must be ${format}`,
    ar: 'يجب أن تكون القيمة موضعًا (34) أو يومًا (2026-11-21) أو وقتًا بالتوقيت العالمي (2026-11-21T08:00:00Z).',
  }),
} satisfies Messages
