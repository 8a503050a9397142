import type { CloseCode, Echo, FrameErrorCode } from '../../../schema/frames.ts'
import type { LocalizedText } from '../../../schema/languages.ts'
import type { Listener } from '../channels/fan-out.ts'

/** Why a client cannot have a channel; with `retry`, the same frame may succeed later. */
export interface ChannelRefusal {
  readonly i: Echo
  readonly ch: string
  readonly code: FrameErrorCode
  readonly message: LocalizedText
  readonly retry?: true
}

/** A connection, as its subscriptions use it. */
export interface Client extends Listener {
  send(frame: object): void
  /** As `push`, for frames of a backlog, which may be many at once. */
  pushBacklog(frames: Buffer): void
  /** Resolves when little waits for the client, or it is gone. */
  drained(): Promise<void>
  refuse(refusal: ChannelRefusal): void
  close(code: CloseCode): void
}
