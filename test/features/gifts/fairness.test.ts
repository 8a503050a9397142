import { test } from 'tap'
import type { VerifyDraw } from '../../../schema/fairness.ts'
import { drawOrder, hashTimes } from '../../../src/features/fairness/algorithms.ts'
import { chooseSeed, evolveLuckyChains, showChains } from '../../../src/features/fairness/lucky-chains.ts'
import type { IncrementalVerdict, Verdict } from '../../../src/features/fairness/verdict.ts'
import { verifyDraw } from '../../../src/features/gifts/verify-draw.ts'
import { givenWhen, testIncarnation as incarnation } from '../../harness/ledger/given-when.ts'
import { testChains } from '../../harness/ledger/test-executor.ts'

const choose = chooseSeed(testChains)
const show = showChains(testChains)

/** Runs a check without yielding between its parts. */
function verdictOf(check: IncrementalVerdict): Verdict {
  for (;;) {
    const { done, value } = check.next()
    if (done === true) return value
  }
}

test('the first read opens a chain, later ones only show it', async (t) => {
  const ledger = givenWhen(evolveLuckyChains)
  const first = ledger.when(show, { user_id: 7 })
  t.same(first.answer, {
    incarnation,
    chain: '7-1',
    commitment: testChains.commitment({ incarnation, chain: '7-1' }),
    client_seed: '7',
    next: '7-2',
    next_commitment: testChains.commitment({ incarnation, chain: '7-2' }),
  })
  t.match(first.events, [{ type: 'lucky-chain-opened', data: { fairness_key: testChains.keyHash } }])
  const again = ledger.when(show, { user_id: 7 })
  t.same([again.events, again.answer], [[], first.answer])
})

test('a user’s own seed starts the chain that was committed to before', async (t) => {
  const ledger = givenWhen(evolveLuckyChains)
  const shown = ledger.when(show, { user_id: 7 }).answer
  const chosen = ledger.when(choose, { user_id: 7, client_seed: 'mine' })
  t.match(chosen.answer, { chain: '7-2', commitment: shown?.next_commitment, client_seed: 'mine', next: '7-3' })
  t.equal(chosen.events.length, 1)
  t.match(ledger.when(choose, { user_id: 7, client_seed: 'mine' }).answer, { chain: '7-3' }, 'it always works')
  const unseen = ledger.when(choose, { user_id: 8, client_seed: 'mine' })
  t.match(unseen.events, [
    { data: { chain: '8-1', client_seed: '8' } },
    { data: { chain: '8-2', client_seed: 'mine' } },
  ])
})

test('a draw of another ledger is verified with the values sent', async (t) => {
  const start = Uint8Array.from({ length: 32 }, (_, i) => i)
  const draw: VerifyDraw = {
    chain: 'c-1',
    k: 1,
    link: Buffer.from(hashTimes(start, 1023)).toString('hex'),
    client_seed: 'alice-seed-1',
    stake: 100,
    orders: [
      { r: 744_227, reward_num: 50 },
      { r: 84_878, reward_num: 0 },
    ],
    commitment: '014f68f1316b596d8f66923bacb9555f83e22c9887068760371c5b3f299e464b',
  }
  const held = [
    { multiplier: 0, weight: 500_000 },
    { multiplier: 5_000, weight: 500_000 },
  ]
  const verdict = (change: Partial<VerifyDraw>) => {
    const asked = { ...draw, ...change }
    return verdictOf(verifyDraw(asked, { commitments: [], odds: held }))
  }
  const answer = verdict({})
  t.match(answer, { algorithm: 'lg1', valid: true })
  t.same(
    answer.steps.map(({ step, ok }) => [step, ok]),
    [
      ['link', true],
      ['odds', true],
      ['ledger', true],
      ['order 0', true],
      ['order 1', true],
    ],
  )
  const second = { k: 2, link: Buffer.from(hashTimes(start, 1022)).toString('hex') }
  t.match(verdict({ ...second, orders: [{ r: 926_375, reward_num: 50 }] }), { valid: true }, 'the second of the chain')
  const words = drawOrder(Buffer.from(draw.link, 'hex'), 'c-1', 'alice-seed-1', 1, 0, 1_000_000).words
  t.match(answer.steps[2], { why: /not on this ledger/, values: { on_ledger: false } })
  t.match(answer.steps[0]?.why, /that was sent$/)
  t.match(answer.steps[3]?.values, {
    label: 'lg1|c-1|alice-seed-1|1|0',
    words,
    r: 744_227,
    multiplier: 0.5,
    reward_num: 50,
  })
  const wrong: readonly (readonly [string, Partial<VerifyDraw>, string])[] = [
    ['another link', { link: 'ab'.repeat(32) }, 'link'],
    ['another place', { k: 2 }, 'link'],
    ['another commitment', { commitment: 'ab'.repeat(32) }, 'link'],
    ['another hash', { odds_hash: 'ab'.repeat(32), decoration_id: 5 }, 'odds'],
    ['another number', { orders: [{ r: 1 }] }, 'order 0'],
    ['another reward', { orders: [{ r: 744_227, reward_num: 51 }] }, 'order 0'],
    ['another seed', { client_seed: 'bob' }, 'order 0'],
  ]
  for (const [name, change, step] of wrong) {
    const answer = verdict(change)
    t.equal(answer.valid, false, name)
    t.equal(answer.steps.find(({ ok }) => !ok)?.step, step, name)
  }
  t.match(verdictOf(verifyDraw(draw, { commitments: [], odds: undefined })), { valid: false })
})

test('a reward beyond the largest balance is shown exactly', async (t) => {
  const stake = Number.MAX_SAFE_INTEGER
  const orders = [{ reward_num: stake }]
  const draw: VerifyDraw = { chain: 'c-1', k: 1, link: 'ab'.repeat(32), client_seed: 'x', stake, orders }
  const rewards = [10_000, 99_999_999, 100_000_000].map((multiplier) => {
    const odds = [{ multiplier, weight: 1 }]
    const [order] = verdictOf(verifyDraw(draw, { commitments: [], odds })).steps.slice(3)
    return [order?.ok, order?.values['reward_num'], order?.why]
  })
  t.same(rewards, [
    [true, stake, 'the number and the reward follow from link, seed and odds'],
    [false, '90071991646689984525', 'the reward is 90071991646689984525, not 9007199254740991'],
    [false, '90071992547409910000', 'the reward is 90071992547409910000, not 9007199254740991'],
  ])
})
