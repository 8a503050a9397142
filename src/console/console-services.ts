import type { ReportLimiter } from '../audit/routes/report-limiter.ts'
import type { AuditParts } from '../audit/routes/requests.ts'
import type { App, Services } from '../features/services.ts'
import type { ConnectionRegistry } from '../realtime/sockets/connection-registry.ts'
import type { AdminRequest } from './admin-request.ts'
import type { SignInCodes } from './session/sign-in-codes.ts'

/** What the console needs beside the services of all routes. */
export interface ConsoleOptions {
  /** Signs cookies and the tokens of forms; the same on all instances. */
  readonly cookieKey: string
  readonly production: boolean
  /** Whether this is the service's own address, from which its forms are sent. */
  readonly isOwnOrigin: (origin: string) => boolean
  /** Links that sign in, for development on this machine; null: there are none. */
  readonly signInCodes: SignInCodes | null
  readonly audit: AuditParts
}

/** What the parts of the service that run beside the console give it. */
export interface ConsoleNeighbours {
  /** Sockets of this instance, which counts those that listen to a channel; null: it serves none. */
  readonly sockets: Pick<ConnectionRegistry, 'sockets' | 'listenerCounts'> | null
  /** Makes a short token of a user, for development; null in production, and where only the login service can. */
  readonly signUserToken: ((userId: number) => string) | null
}

/** What pages read with and act by. */
export interface ConsoleServices
  extends Services,
    ConsoleNeighbours,
    Omit<ConsoleOptions, 'cookieKey' | 'signInCodes'> {
  /** Sends a request to /admin/v1 as the member of staff who sent this one. */
  readonly adminRequest: AdminRequest
  /** What reads many rows for a file waits for its turn. */
  readonly exportLimiter: ReportLimiter
}

/** Adds the routes of some pages. Paths begin after `/console`. */
export type ConsolePages = (scope: App, services: ConsoleServices) => void
