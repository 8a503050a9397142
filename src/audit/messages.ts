import { isolated, type Messages } from '../language/messages.ts'
import { formatNumber } from '../language/numbers.ts'

/** When the ledger began and ended, for people who asked beyond it. */
const englishBounds = (from: string, to: string, head: number): string =>
  `The ledger has events from ${from} (position 1) to ${to} (position ${head}).`
const arabicBounds = (from: string, to: string, head: number): string =>
  `يضم السجل الأحداث من ${isolated(from)} (الموضع ${formatNumber('ar', 1)}) إلى ${isolated(to)} (الموضع ${formatNumber('ar', head)}).`

/** What finance reads about queries that cannot be answered. Command lines speak English. */
export const auditMessages = {
  ledger_end: (head: number) => ({
    en: `The ledger ends at position ${head}.`,
    ar: `ينتهي السجل عند الموضع ${formatNumber('ar', head)}.`,
  }),
  no_events: { en: 'The ledger has no events.', ar: 'لا توجد أحداث في السجل.' },
  in_future: (from: string, to: string, head: number) => ({
    en: `The time is in the future. ${englishBounds(from, to, head)}`,
    ar: `الوقت المطلوب في المستقبل. ${arabicBounds(from, to, head)}`,
  }),
  before_first_event: (from: string, to: string, head: number) => ({
    en: `The time is before the first event. ${englishBounds(from, to, head)}`,
    ar: `الوقت المطلوب يسبق أول حدث. ${arabicBounds(from, to, head)}`,
  }),
  until_now: (day: string, now: string) => ({
    en: `${day} is not over: until now, ${now}`,
    ar: `لم ينتهِ يوم ${isolated(day)} بعد، لذا تشمل النتيجة ما حدث حتى الآن: ${isolated(now)}.`,
  }),
  before_from: {
    en: 'The end of the period must not be before its beginning.',
    ar: 'يجب ألا تسبق نهاية الفترة بدايتها.',
  },
  no_user: (id: number) => ({ en: `There is no user ${id}.`, ar: `لا يوجد مستخدم بالمعرّف ${id}.` }),
  as_of: (format: string) => ({
    en: `The value must be ${format}.`,
    ar: 'يجب أن تكون القيمة موضعًا (34) أو يومًا (2026-11-21) أو وقتًا بالتوقيت العالمي (2026-11-21T08:00:00Z).',
  }),
  foreign_checkpoint: {
    en: "This is no checkpoint with this ledger's signature, or its text was changed.",
    ar: 'ليست هذه نقطة تحقّق موقّعة بمفتاح هذا السجل، أو تم تغيير نصها.',
  },
} satisfies Messages
