import type { AuditParts } from '../audit/routes/services.ts'
import type { App, Services } from '../features/services.ts'
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

/** What pages read with and act by. */
export interface ConsoleServices extends Services, Omit<ConsoleOptions, 'cookieKey' | 'signInCodes'> {
  /** Sends a request to /admin/v1 as the member of staff who sent this one. */
  readonly adminRequest: AdminRequest
}

/** Adds the routes of some pages. Paths begin after `/console`. */
export type ConsolePages = (scope: App, services: ConsoleServices) => void
