import type { Messages } from '../../language/messages.ts'

/** What clients and operators read about gifts. */
export const giftMessages = {
  not_the_sender: {
    en: 'u_id must be the logged-in user.',
    ar: 'يجب أن يكون u_id معرّف المستخدم الذي سجّل الدخول.',
  },
  insufficient_items: {
    en: 'The bag does not hold that many items.',
    ar: 'لا تحتوي الحقيبة على هذا العدد من الهدايا.',
  },
  no_gift: { en: 'There is no such gift.', ar: 'هذه الهدية غير موجودة.' },
  no_room: { en: 'There is no such room.', ar: 'هذه الغرفة غير موجودة.' },
  sender_is_receiver: { en: 'The sender cannot be a receiver.', ar: 'لا يمكن للمرسل أن يكون من المستلمين.' },
  needs_name: { en: 'A new gift needs a name.', ar: 'يجب تحديد اسم للهدية الجديدة.' },
  needs_kind: { en: 'A new gift needs a kind.', ar: 'يجب تحديد نوع الهدية الجديدة.' },
  needs_price: { en: 'A new gift needs a price.', ar: 'يجب تحديد سعر للهدية الجديدة.' },
  price_alone: {
    en: 'A price that a colleague has to approve is changed alone: send the other changes without it.',
    ar: 'السعر الذي يجب أن يوافق عليه أحد زملائك يُغيَّر وحده: أرسل التغييرات الأخرى من دونه.',
  },
  odds_of_standard: { en: 'A standard gift has no odds.', ar: 'لا يجوز تحديد احتمالات للهدية العادية.' },
  needs_odds: { en: 'A lucky gift must have odds.', ar: 'يجب تحديد احتمالات لهدية الحظ.' },
  total_weight: {
    en: 'The weights must not add up to more than 10^9.',
    ar: 'يجب ألا يتجاوز مجموع الأوزان 10^9.',
  },
  pays_too_much: {
    en: "What the odds pay back plus the receiver's share must not exceed 1.",
    ar: 'يجب ألا يتجاوز مجموع نسبة العائد للاعب وحصة المستلم 1.',
  },
  multiplier: {
    en: 'The value must be 0 to 10,000 with at most 4 decimals.',
    ar: 'يجب أن تكون القيمة بين 0 و10,000، بما لا يزيد على 4 منازل عشرية.',
  },
} satisfies Messages
