import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { InstantSend, SendResult } from '../../../schema/gifts.ts'
import { openPool } from '../../../src/db/pool.ts'
import { queryBuilder } from '../../../src/db/queries/query-builder.ts'
import type { Slice } from '../../../src/features/slice.ts'
import { Sessions, sessionsIn } from '../../../src/http/auth/sessions.ts'
import { createMinimalApp } from '../../../test/harness/app/minimal-app.ts'
import { keys } from '../../../test/harness/scenario/service-keys.ts'
import { GIFT } from '../workload.ts'
import { naiveSlice } from './naive-slice.ts'

// What the product is compared with, through the product's own HTTP layer. With `ANSWERS` to reads, by route, it answers
// those, and to a gift always the same, without a database: HTTP alone. Else it does everything the naive way, with the
// planner settings of the product: generic plans by index.

/** As the product by default; no sender here reaches it. */
const RATE_LIMIT = 1_200
const planner =
  '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off'

function naive(): { slice: Slice; sessions: Sessions } {
  const url = new URL(process.env['DATABASE_URL'] ?? '')
  url.searchParams.set('options', planner)
  const pool = openPool(url.href, { max: 20, application_name: 'naive' })
  return { slice: naiveSlice(pool), sessions: sessionsIn(queryBuilder(pool)) }
}

function floor(answers: Readonly<Record<string, string>>): { slice: Slice; sessions: Sessions } {
  const orders = [{ order_id: '123456-0', is_win: 0 as const, reward_num: 0 }]
  const result = { code: 1 as const, data: { gift_id: GIFT.id, gift_price: GIFT.price, OrderList: orders } }
  const sent = { data: { diamonds: 999_999_999_990, lucky_result: result } }
  const slice: Slice = {
    documentedPrefix: '/api/v1',
    configure: () => ({
      routes(app) {
        app.post('/instant-send', { schema: { body: InstantSend, response: { 200: SendResult } } }, async () => sent)
        for (const [route, answer] of Object.entries(answers)) {
          app.get(route, (_request, reply) => void reply.type('application/json; charset=utf-8').send(answer))
        }
      },
    }),
  }
  // Every user exists, with no sessions revoked.
  return { slice, sessions: new Sessions(async () => 0) }
}

const { ANSWERS, PORT } = process.env
const Answers = Type.Record(Type.String(), Type.String())
const { slice, sessions } = ANSWERS === undefined ? naive() : floor(Value.Parse(Answers, JSON.parse(ANSWERS)))
const jwt = { kind: 'secret', secret: keys.JWT_SECRET } as const
const options = { slices: [slice], sessions, jwt, rateLimit: RATE_LIMIT, logLevel: 'warn', docs: false }
// A signal ends the process at once, as it has nothing to save.
const { app } = await createMinimalApp({ teardown: () => {} }, options)
console.log(`API ${await app.listen({ host: '127.0.0.1', port: Number(PORT) })}`)
