import type { Messages } from '../../language/messages.ts'

/** What clients and operators read about cards and privileges. */
export const privilegeMessages = {
  not_your_card: { en: 'This card belongs to another user.', ar: 'هذه البطاقة تخص مستخدمًا آخر.' },
  not_card_owner: { en: 'Only the owner of a card can send it.', ar: 'لا يمكن إرسال البطاقة إلا من مالكها.' },
  card_already_activated: { en: 'This card is already activated.', ar: 'سبق تفعيل هذه البطاقة.' },
  same_user: { en: 'You cannot send a card to yourself.', ar: 'لا يمكنك إرسال البطاقة إلى نفسك.' },
  too_few_days: {
    en: 'This card would add less than one day to the running privilege.',
    ar: 'ستضيف هذه البطاقة أقل من يوم واحد إلى امتيازك الحالي.',
  },
  validity_limit: {
    en: 'The privilege would last beyond the year 9999.',
    ar: 'ستمتد صلاحية الامتياز إلى ما بعد سنة 9999.',
  },
  no_package: { en: 'There is no such package.', ar: 'هذه الباقة غير موجودة.' },
  activated: { en: 'The privilege is active.', ar: 'تم تفعيل الامتياز.' },
  sent: { en: 'The privilege was sent.', ar: 'تم إرسال الامتياز.' },
} satisfies Messages
