import type { FastifyRequest } from 'fastify'
import type { IsOurs } from '../http/auth/gate.ts'
import type { ClientPrefix } from '../http/prefixes.ts'
import type { Notifier } from '../notifications/notifier.ts'
import type { FrameMapper, LiveQuery } from '../realtime/frames/frame-mapper.ts'
import type { App, Services } from './services.ts'

/** What open routes may ask about a request. */
export interface OpenChecks {
  readonly isOurs: IsOurs
  /** Whether what a client tells may be kept: always with a good token, else while its address may ask for more. */
  readonly mayRemember: (request: FastifyRequest) => boolean
}

/** A part of the business with its doors, and what it tells. What its events mean, and its tables, stand in books.ts. */
export interface Slice {
  /** The prefix under which the documents list its client routes. */
  readonly published: ClientPrefix
  /** Client doors; paths without prefix. */
  readonly routes?: (app: App, services: Services) => void
  /** Client doors that are never closed and ask for no token; paths without prefix. */
  readonly open?: (app: App, services: Services, checks: OpenChecks) => void
  /** Doors under /admin/v1; paths without prefix. */
  readonly operator?: (app: App, services: Services) => void
  /** What users are told of its events on their devices. */
  readonly notifier?: Notifier
  /** What its events tell rooms, users and everybody over sockets. */
  readonly frameMapper?: FrameMapper
  /** What users are shown of their own as it changes. */
  readonly liveQuery?: LiveQuery
}
