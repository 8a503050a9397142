import type { Messages } from '../../language/messages.ts'

/** What staff read about proposals. */
export const proposalMessages = {
  own_proposal: {
    en: 'You made this proposal: a colleague has to approve it.',
    ar: 'أنت من قدّم هذا الاقتراح، ويجب أن يوافق عليه أحد زملائك.',
  },
  version_required: {
    en: 'The version of the proposal that was read is required: as version, or its ETag as If-Match.',
    ar: 'يجب ذكر إصدار الاقتراح الذي تمت قراءته: في الحقل version أو قيمة ETag الخاصة به في If-Match.',
  },
  proposal_closed: { en: 'This proposal is closed.', ar: 'هذا الاقتراح مغلق.' },
  proposal_changed: {
    en: 'This proposal would do something else now than what was shown. Nothing was done: read it again.',
    ar: 'سيؤدي هذا الاقتراح الآن إلى غير ما عُرض. لم يُنفَّذ شيء: اقرأه مرة أخرى.',
  },
  nothing_to_do: {
    en: 'Nothing of this proposal is left to do.',
    ar: 'لم يبقَ في هذا الاقتراح ما يُنفَّذ.',
  },
} satisfies Messages
