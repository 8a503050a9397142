import type { ClientFrame, Echo } from '../../../schema/frames.ts'

export type SubFrame = Extract<ClientFrame, { t: 'sub' }>

/** What a client asks for of one channel. */
export interface ChannelRequest {
  readonly i: Echo
  readonly ch: string
  /**
   * A position that the client has; null when it asks for what comes from now on; `lost` when it has one from before
   * commits were lost, after which nobody knows what it has.
   */
  readonly since: number | null | 'lost'
  /** Whether it asks for the state of a room; no other channel has one. */
  readonly wantsState: boolean
}

/** Whether the answer needs nothing but the hub. */
export const isPlain = ({ since, wantsState }: ChannelRequest): boolean => typeof since !== 'number' && !wantsState

/** The requests of a frame, in its order; `accepts` says whether positions of a ledger mean the same now. */
export function requestsIn(
  { i, ch, since, ledger, state = false, chs }: SubFrame,
  accepts: (ledger: string | undefined) => boolean,
): readonly ChannelRequest[] {
  const members = chs ?? [{ ch, since, state }]
  const positionOf = (text: string): number | 'lost' => (accepts(ledger) ? Number(text) : 'lost')
  return members.map((member) => ({
    i,
    ch: member.ch,
    since: member.since === undefined ? null : positionOf(member.since),
    wantsState: member.state ?? state,
  }))
}
