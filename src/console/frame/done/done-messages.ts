/** What a page says after an act, by the code of a cookie: no text from outside is ever shown. */
const doneMessages = {
  proposed: 'A proposal was made. Another member of staff has to approve it.',
  approved: 'Approved, and done.',
  rejected: 'Rejected. Nothing was moved.',
  saved: 'Saved. It is in force now.',
  removed: 'Removed.',
  'staff-sessions-ended': 'The sessions were ended.',
  'withdrawal-approved': 'The request was approved.',
  'withdrawal-rejected': 'The request was rejected, and its dollars are back in the wallet.',
  'withdrawal-transferred': 'The request was marked as transferred.',
  credited: 'The balance was credited.',
  debited: 'The balance was debited.',
  'cards-granted': 'The cards are in the wallet.',
  'bag-filled': 'The gifts are in the bag.',
  'user-changed': 'The user was changed.',
  'sessions-ended': 'All sessions of the user were ended.',
  stopped: 'Stopped.',
  'stop-asked': 'It ends within about a second, if it had not ended before.',
  'checkpoint-made': 'A checkpoint was made. Keep its text where nobody who runs the database can write.',
  acknowledged: 'Acknowledged. The finding stops no closing any more.',
  'month-closed': 'The month is closed. The next one begins from it.',
} as const

export type DoneCode = keyof typeof doneMessages

/** The message of a code; null for an unknown one. */
export const doneMessage = (code: unknown): string | null =>
  typeof code === 'string' && Object.hasOwn(doneMessages, code) ? (doneMessages[code as DoneCode] ?? null) : null
