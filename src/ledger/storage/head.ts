import type { Micros } from '../rules/time.ts'

/** The end of the ledger. */
export interface Head {
  readonly position: number
  readonly hash: string
  readonly at: Micros
}

/** What a caller is answered; opaque here: `status` and `body` are stored under the idempotency key. */
export interface Reply {
  readonly status: number
  readonly body: string
}

/** A reply as it is stored, to be answered again to the same request. */
export interface StoredReply extends Reply {
  readonly actor: string
  readonly key: string
  readonly requestHash: string
}
