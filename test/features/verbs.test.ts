import { test } from 'tap'
import { verbsOf } from '../../src/slices.ts'
import { testSettings } from '../harness/app/app-parts.ts'

const cause = { actor: 'user:1', requestId: 'r', idempotency: null }
const presentRefusal = () => ({ status: 422, body: '' })

test('every verb has a name, under which it takes inputs that its schema accepts, and no others', async (t) => {
  const verbs = verbsOf(testSettings)
  t.ok(verbs.size > 25)
  for (const [name, verb] of verbs) {
    t.equal(verb.name, name)
    for (const input of [undefined, null, 7, [], { caller_id: 'x', user_id: 0, id: -1, maintenance: 'x' }]) {
      t.equal(verb.receive(input, cause, presentRefusal), null, `${name} refuses ${JSON.stringify(input)}`)
    }
  }
  const gift = {
    caller_id: 1,
    sender_id: 1,
    decoration_id: 3,
    receiver_ids: [2],
    quantity: 1,
    room: 'R1',
    from_bag: false,
    encrypted: false,
  }
  const sendGift = verbs.get('send-gift')
  t.match(sendGift?.receive(JSON.parse(JSON.stringify(gift)), cause, presentRefusal), {
    call: { verb: 'send-gift', input: gift },
    cause,
  })
  t.equal(sendGift?.receive({ ...gift, quantity: 10_000 }, cause, presentRefusal), null)
  t.equal(sendGift?.receive({ ...gift, receiver_ids: [] }, cause, presentRefusal), null)
})
