import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify'
import type { AppliedEvents } from '../../ledger/subscriptions/applied-events.ts'
import { actorOf } from '../auth/caller.ts'
import { requestedPosition, setPosition } from '../positions.ts'
import type { ReadSources } from './read-sources.ts'
import type { Standby } from './standby.ts'

// Checks that decide which database answers a request's reads. They run after the check of the token.

/**
 * For client routes: a standby answers a GET request of a caller who did not write recently, once it has the position
 * that the request sends back. When that takes too long, the primary does.
 */
export function chooseReads(
  reads: ReadSources,
  applied: Pick<AppliedEvents, 'position' | 'incarnation' | 'isBeyondLedger'>,
): onRequestAsyncHookHandler[] {
  const { standby } = reads
  if (standby === null) return []
  if (!reads.hasPrimary) return [awaitPosition(standby, applied)]
  const choose = async (request: FastifyRequest, reply: FastifyReply, requested: number): Promise<void> => {
    if ((await applied.isBeyondLedger(requested)) || (await standby.reach(requested))) {
      readStandby(request, reply, standby)
    } else {
      setPosition(reply, applied.position)
    }
  }
  return [
    async (request, reply) => {
      if (!mayReadStandby(request, reads, standby)) return
      const requested = requestedPosition(request, applied.incarnation)
      if (requested === null || requested <= standby.position) readStandby(request, reply, standby)
      else await choose(request, reply, requested)
    },
  ]
}

/** For staff, whose answers carry no position. */
export function chooseStaffReads(reads: ReadSources): onRequestHookHandler[] {
  const { standby } = reads
  if (standby === null || !reads.hasPrimary) return []
  return [
    (request, _reply, done) => {
      request.readsStandby = mayReadStandby(request, reads, standby)
      done()
    },
  ]
}

/** Where there is no primary, a GET request waits for its position, and is then answered with what there is. */
const awaitPosition =
  (standby: Standby, { incarnation }: Pick<AppliedEvents, 'incarnation'>): onRequestAsyncHookHandler =>
  async (request, reply) => {
    const requested = isRead(request) ? requestedPosition(request, incarnation) : null
    if (requested === null) return
    await standby.reach(requested)
    setPosition(reply, standby.position)
  }

const mayReadStandby = (request: FastifyRequest, { writers }: ReadSources, { isUsable, position }: Standby): boolean =>
  isRead(request) &&
  isUsable &&
  request.routeOptions.config.reads !== 'primary' &&
  !writers.mayLack(actorOf(request.caller), position)

const isRead = ({ method }: FastifyRequest): boolean => method === 'GET' || method === 'HEAD'

function readStandby(request: FastifyRequest, reply: FastifyReply, standby: Standby): void {
  request.readsStandby = true
  setPosition(reply, standby.position)
}
