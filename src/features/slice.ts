import type { FastifyRequest } from 'fastify'
import type { IsSignatureValid } from '../http/auth/gate.ts'
import type { ClientPrefix } from '../http/paths.ts'
import type { ReceivableVerb } from '../ledger/executor/command.ts'
import type { FrameMapper, LiveQuery } from '../realtime/frames/frame-mapper.ts'
import type { App, Services, Settings } from './services.ts'

/** Checks of a request for routes that are open to everyone. */
export interface OpenRouteChecks {
  readonly isSignatureValid: IsSignatureValid
  /** Whether a client's type and version may be stored: always with a valid token, else within its address's limit. */
  readonly mayRemember: (request: FastifyRequest) => boolean
}

/** The verbs of a slice as they are configured, and the routes that run them. */
interface SliceRoutes {
  readonly verbs?: Readonly<Record<string, ReceivableVerb>>
  /** Routes of clients; paths without prefix. */
  readonly routes?: (app: App, services: Services) => void
  /** Routes of clients that need no token; paths without prefix. Maintenance and forced updates close them. */
  readonly publicRoutes?: (app: App, services: Services) => void
  /** Routes of clients that are always open and need no token; paths without prefix. */
  readonly openRoutes?: (app: App, services: Services, checks: OpenRouteChecks) => void
  /** Routes of staff, under /admin/v1; paths without prefix. */
  readonly adminRoutes?: (app: App, services: Services) => void
}

/** What the world sees of a slice: its routes, and the frames of its events. See also `Model`. */
export interface Slice {
  /** The prefix under which the documents list its client routes; they answer under both. */
  readonly documentedPrefix: ClientPrefix
  readonly configure?: (settings: Settings) => SliceRoutes
  /** The frames that its events send to rooms, users and everyone. */
  readonly frameMapper?: FrameMapper
  /** A user's own state that sockets push whenever it changes. */
  readonly liveQuery?: LiveQuery
}
