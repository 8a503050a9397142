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

/**
 * Why a socket is closed, and what its client does next: 40xx do not reconnect, 41xx back off and resume, 42xx
 * reconnect at once with jitter.
 */
export const closeCodes = {
  /** The token is missing, invalid or revoked. */
  token: 4001,
  forbidden: 4003,
  badFrames: 4004,
  /** The user has opened too many newer sockets. */
  replaced: 4009,
  updateRequired: 4026,
  capacity: 4100,
  /** The client does not read what is sent. */
  slow: 4101,
  maintenance: 4103,
  tooFast: 4108,
  drain: 4200,
  noPong: 4201,
  /** The client needs a new token. */
  tokenExpired: 4202,
} as const satisfies Record<string, CloseCode>
