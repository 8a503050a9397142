import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Kysely } from 'kysely'
import type { ChooseReportDatabase } from '../db/queries/query-builder.ts'
import type { Tables } from '../db/tables.ts'
import type { Caller } from '../http/auth/caller.ts'
import type { AppState } from '../http/auth/gate.ts'
import type { Sessions, StaffSessions } from '../http/auth/sessions.ts'
import type { ExecuteCommand } from '../http/execute-command.ts'
import type { AppliedEvents } from '../ledger/subscriptions/applied-events.ts'
import type { Vault } from '../vault/vault.ts'
import type { LuckyChains, SpinSeeds } from './fairness/algorithms.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the token check; reading it on a route without one throws. */
    caller: Caller
  }
}

/** Fastify as the slices see it: schemas are TypeBox. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** What a slice's routes need. */
export interface Services {
  readonly execute: ExecuteCommand
  /** The primary; only the executor writes what the ledger decides. */
  readonly db: Kysely<Tables>
  /** For reports and pages of staff that read much. */
  readonly chooseReportDatabase: ChooseReportDatabase
  /** The part of the ledger that responses from memory take into account. */
  readonly applied: AppliedEvents
  readonly settings: Settings
  /** Which clients the service is open to. */
  readonly appState: AppState
  /** Encrypts what must be erasable. */
  readonly vault: Vault
  /** Cached sessions of users; after a revocation, `invalidate` makes this instance read them again. */
  readonly sessions: Pick<Sessions, 'invalidate'>
  readonly staffSessions: Pick<StaffSessions, 'validAfter' | 'load' | 'invalidate'>
}

/** Configuration that verbs are made with. */
export interface Settings {
  readonly ownerCommissionPercent: number
  readonly rouletteFeePercent: number
  readonly assetBaseUrl: string
  /** The links of lucky draws. */
  readonly luckyChains: LuckyChains
  /** The seeds of roulette spins. */
  readonly spinSeeds: SpinSeeds
}
