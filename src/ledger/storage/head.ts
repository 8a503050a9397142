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
  /** Whether the same request is judged again instead of being answered with it. */
  readonly isTransient?: true
}

/** A stored reply, sent again to the same request. */
export interface StoredReply extends Omit<Reply, 'isTransient'> {
  readonly actor: string
  readonly key: string
  readonly requestHash: string
}
