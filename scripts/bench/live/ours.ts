import { fastify } from 'fastify'
import { userCheck } from '../../../src/http/auth/auth.ts'
import { alwaysOpen } from '../../../src/http/auth/gate.ts'
import { Sessions } from '../../../src/http/auth/sessions.ts'
import { registerTokens, signToken } from '../../../src/http/auth/tokens.ts'
import { AddressLimit } from '../../../src/http/limits/address-limit.ts'
import { CurrentIncarnation } from '../../../src/ledger/subscriptions/applied-events.ts'
import { Hub } from '../../../src/realtime/channels/hub.ts'
import { ResumeBudget } from '../../../src/realtime/channels/resume-budget.ts'
import { createEventMapper } from '../../../src/realtime/frames/frame-mapper.ts'
import { ConnectionRegistry, ReturnTimes } from '../../../src/realtime/sockets/connection-registry.ts'
import { authenticateWith, registerSocketRoutes } from '../../../src/realtime/sockets/socket-routes.ts'
import { TimeSlice } from '../../../src/realtime/time-slice.ts'
import { slices } from '../../../src/slices.ts'
import { giftAt, profiles } from './event.ts'

const frameMappers = slices.flatMap(({ frameMapper = [] }) => frameMapper)

/** A server that sends events to all its sockets. */
export interface Implementation {
  readonly port: number
  /** A token for each socket. */
  readonly tokens: readonly string[]
  /** Sends so many events to all sockets, in one turn of the event loop. */
  readonly publish: (events: number) => void
}

/** The product from event to socket, with profiles and cursors from memory instead of the database. */
export async function ours(sockets: number): Promise<Implementation> {
  const app = fastify()
  const read = await registerTokens(app, { kind: 'secret', secret: 'a secret for the bench, long enough for it' })
  const sessions = new Sessions(async () => 0)
  const fail = (error: unknown): void => console.error(error)
  const hub = new Hub(
    {
      mapEvent: createEventMapper(frameMappers, fail),
      profiles: { get: async () => profiles },
      backlogs: { lastBefore: async (channels) => new Map(channels.map((key) => [key, null])), read: nothing },
      head: async () => 0,
      onMemberLeft: () => {},
      onSent: () => {},
      onFlushed: () => {},
    },
    0,
  )
  const registry = new ConnectionRegistry({
    hub,
    incarnation: new CurrentIncarnation({ incarnation: 'b'.repeat(32), position: 1, began_at: 0 }),
    resumes: new ResumeBudget(),
    timeSlice: new TimeSlice(4),
    checkAppState: alwaysOpen.check,
    returnTimes: new ReturnTimes(1),
    authenticate: authenticateWith(read, sessions),
    memberRoom: async () => ({ roomId: 1, position: 0 }),
    roomState: async () => null,
    authMs: 10_000,
    heartbeatMs: 25_000,
    onError: fail,
    onSocketClosed: (code) => code !== null && fail(`closed with ${code}`),
  })
  const tokenChecks = [userCheck(read, sessions, () => undefined)]
  const limits = { addressLimit: new AddressLimit(null), metrics: { refused: () => {} } }
  await registerSocketRoutes(app, {
    registry,
    isAllowedOrigin: () => true,
    clientHintsOf: alwaysOpen.hintsOf,
    beforeToken: [],
    tokenChecks,
    ...limits,
  })
  const address = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  let position = 0
  return {
    port: Number(address.port),
    tokens: Array.from({ length: sockets }, (_, i) => signToken(app, String(i + 1), null, '1h')),
    publish(events) {
      void hub.onEvents(Array.from({ length: events }, () => giftAt((position += 1))))
    },
  }
}

const nothing = async (): Promise<Map<never, never>> => new Map<never, never>()
