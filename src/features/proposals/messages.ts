import type { Messages } from '../../language/messages.ts'

/** What staff read about proposals. */
export const proposalMessages = {
  own_proposal: {
    en: 'You made this proposal: a colleague has to approve it.',
    ar: 'أنت من قدّم هذا الاقتراح، ويجب أن يوافق عليه أحد زملائك.',
  },
  proposal_closed: { en: 'This proposal is closed.', ar: 'هذا الاقتراح مغلق.' },
} satisfies Messages
