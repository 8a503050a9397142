import type { ToldData, ToldEvent } from '../../../schema/announcements.ts'
import type { Announcement, ChannelKey, Named, Wanted, Words } from './announcer.ts'

/** An announcement whose data is of the form that the documents tell. */
export const announcement = <E extends ToldEvent>(
  channel: ChannelKey,
  event: E,
  wants: Wanted,
  data: (words: Words) => ToldData<E>,
): Announcement => ({ channel, event, wants, data })

/** A user's words. Whoever was erased stays who took part, without them. */
export const named = ({ users }: Words, id: number): Named =>
  users.get(id) ?? { id, name: '', avatar: '', uid: '', picture: '' }
