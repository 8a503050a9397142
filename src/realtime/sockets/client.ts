import type { CloseCode, Echo } from '../../../schema/frames.ts'
import type { Listener } from '../channels/channel.ts'

/** Why the client cannot have a channel; with `retry` it may, later. */
export interface ChannelRefusal {
  readonly i: Echo
  readonly ch: string
  readonly code: string
  readonly message: string
  readonly retry?: true
}

export interface Client extends Listener {
  send(frame: object): void
  /** As `push`, for what happened before. */
  pushReplay(frames: Buffer): void
  refuse(refusal: ChannelRefusal): void
  close(code: CloseCode): void
}
