import { readFileSync } from 'node:fs'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { InstantSend, SendResult } from '../../../schema/gifts.ts'
import type { Slice } from '../../../src/features/slice.ts'
import { Sessions } from '../../../src/http/auth/sessions.ts'
import { GIFT } from '../workload.ts'
import { listenWith, sendJson } from './listen.ts'

// The cost of HTTP alone: the product's checks and schemas, and a constant body of the same size as the product's.
// `ANSWERS` names a file with the answers to reads, by route.

const Answers = Type.Record(Type.String(), Type.String())

const body = JSON.stringify({
  data: {
    diamonds: 999_999_999_990,
    lucky_result: {
      code: 1,
      data: {
        gift_id: GIFT.id,
        gift_price: GIFT.price,
        OrderList: [{ order_id: '123456-0', is_win: 0, reward_num: 0 }],
      },
    },
  },
})

const file = process.env['ANSWERS']
const answers = file === undefined ? {} : Value.Parse(Answers, JSON.parse(readFileSync(file, 'utf8')))

const slice: Slice = {
  documentedPrefix: '/api/v1',
  routes: (app) => {
    app.post(
      '/instant-send',
      { schema: { body: InstantSend, response: { 200: SendResult } } },
      async (_request, reply) => sendJson(reply, 200, body),
    )
    for (const [route, answer] of Object.entries(answers)) {
      app.get(route, async (_request, reply) => sendJson(reply, 200, answer))
    }
  },
}

/** Every user exists, with no sessions revoked. */
const sessions = new Sessions(async () => 0)

await listenWith(slice, sessions)
