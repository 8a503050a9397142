import type { Micros } from '../rules/time.ts'

/** The end of the ledger. */
export interface Head {
  readonly position: number
  readonly hash: string
  readonly at: Micros
}

/** The reply to a command; opaque here. `status` and `body` are stored under the idempotency key. */
export interface Reply {
  readonly status: number
  readonly body: string
}

/** A stored reply, sent again to the same request. */
export interface StoredReply extends Reply {
  readonly actor: string
  readonly key: string
  readonly requestHash: string
}
