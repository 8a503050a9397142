import { InstantSend, SendResult } from '../../../schema/gifts.ts'
import { openPool } from '../../../src/db/pool.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'
import { giftMessages } from '../../../src/features/gifts/messages.ts'
import type { Slice } from '../../../src/features/slice.ts'
import { actorOf, userOf } from '../../../src/http/auth/caller.ts'
import { sessionsIn } from '../../../src/http/auth/sessions.ts'
import { HttpError } from '../../../src/http/errors/http-error.ts'
import { idempotencyKey } from '../../../src/http/validation/idempotency.ts'
import { sha256 } from '../../../src/ledger/rules/hash.ts'
import { listenWith, sendJson } from './listen.ts'
import { NaiveGifts, refused } from './naive-gifts.ts'
import { naiveReadRoutes } from './naive-reads/routes.ts'

// The naive baseline: one transaction per gift (see naive-gifts.ts) and one statement per read (see naive-reads/), served
// through the product's own HTTP layer and with the planner settings of the product: generic plans by index.

const planner =
  '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off'
const url = new URL(process.env['DATABASE_URL'] ?? '')
url.searchParams.set('options', planner)

const pool = openPool(url.href, { max: 20, application_name: 'naive' })
const gifts = new NaiveGifts(pool)

const slice: Slice = {
  documentedPrefix: '/api/v1',
  routes: (app, services) => {
    naiveReadRoutes(app, services, pool)
    app.post(
      '/instant-send',
      { schema: { body: InstantSend, response: { 200: SendResult } } },
      async (request, reply) => {
        const { u_id, decoration_id, user_id, quantity, room_id } = request.body
        if (u_id !== userOf(request)) throw new HttpError(403, 'not_the_sender', giftMessages.not_the_sender)
        if (typeof room_id === 'string') throw refused('validation_failed')
        const key = idempotencyKey(request)
        const result = await gifts.send(
          { sender: u_id, decoration: decoration_id, receivers: user_id, quantity, room: room_id },
          {
            actor: actorOf(request.caller),
            requestId: request.id,
            idempotency: key === null ? null : { key, requestHash: sha256(JSON.stringify(request.body)) },
          },
        )
        if (result.replayed) reply.header('idempotency-replayed', 'true')
        sendJson(reply, result.reply.status, result.reply.body)
      },
    )
  },
}

await listenWith(slice, sessionsIn(queryBuilder(pool)))
