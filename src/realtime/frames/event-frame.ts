import type { ChannelEvent, ChannelEventData } from '../../../schema/channel-events.ts'
import type { ChannelKey, EventFrame, Profiles, RequiredIds, UserProfile } from './frame-mapper.ts'

/** An announcement whose data is of the form that the documents tell. */
export const eventFrame = <E extends ChannelEvent>(
  channel: ChannelKey,
  event: E,
  requiredIds: RequiredIds,
  data: (profiles: Profiles) => ChannelEventData<E>,
): EventFrame => ({ channel, event, requiredIds, data })

/** A user's words. Whoever was erased stays who took part, without them. */
export const userProfile = ({ users }: Profiles, id: number): UserProfile =>
  users.get(id) ?? { id, name: '', avatar: '', uid: '', picture: '' }
