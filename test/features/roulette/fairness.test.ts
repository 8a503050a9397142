import { createHmac } from 'node:crypto'
import { test } from 'tap'
import type { VerifySpin } from '../../../schema/fairness.ts'
import { verifySpin } from '../../../src/features/roulette/verify-spin.ts'
import { playedGame, rouletteApp } from './roulette-app-fixture.ts'

/** The published vector: a game of another ledger, in which everything is a name. */
const vector: VerifySpin = {
  game_uid: 'g-1001',
  server_seed: 'f0e1d2c3b4a5968778695a4b3c2d1e0f00112233445566778899aabbccddeeff',
  entries: ['aa01', 'bb02', 'cc03', 'dd04', 'ee05'].map((client_seed, i) => ({
    entry: `e${i + 1}`,
    user_id: `u${i + 1}`,
    stake: 100,
    client_seed,
  })),
  entries_hash: '32a3fabee5e578376069eaa757a611d38ac4a4cea0cea9dd187cc34c7372d023',
  draw: 2,
  commitment: 'fa82faba5b87cf69d59c4255e4479cfd69768a59812771060444462d4a6bc9b3',
}

test('a spin of another ledger is verified with the values sent', async (t) => {
  const verdict = (change: Partial<VerifySpin> = {}) => {
    const asked = { ...vector, ...change }
    return verifySpin(asked, { commitment: undefined })
  }
  const answer = verdict()
  t.match(answer, { algorithm: 'rr1', valid: true })
  t.same(
    answer.steps.map(({ step, ok }) => [step, ok]),
    [
      ['commitment', true],
      ['entries', true],
      ['ledger', true],
      ['draw', true],
    ],
  )
  t.match(answer.steps[0]?.values, { prefix: 'rr1|commit|g-1001|', hash: vector.commitment })
  t.match(answer.steps[1]?.values, {
    lines: /^0\|e1\|u1\|100\|aa01\n1\|e2\|u2\|100\|bb02\n/,
    hash: vector.entries_hash,
  })
  const label = `rr1|g-1001|${vector.entries_hash}|-`
  const mac = createHmac('sha256', Buffer.from(vector.server_seed, 'hex')).update(`${label}|0`).digest()
  t.match(answer.steps[0]?.why, /that was sent$/)
  t.match(answer.steps[2], { why: /not on this ledger/, values: { on_ledger: false } })
  t.match(answer.steps[3]?.values, {
    label,
    words: [mac.subarray(0, 8).toString('hex')],
    players: 5,
    r: 2,
    winner: { entry: 'e3', user_id: 'u3' },
  })
  const four = verdict({
    entries: vector.entries.slice(0, 4),
    entries_hash: '5fba65a130fd5326ab939cce9a9bef68672e99123dbb964d17fcf165eae774b2',
  })
  t.match(four, { valid: true, steps: [{}, {}, {}, { values: { r: 2 } }] }, 'after u5 left')

  const wrong: readonly (readonly [string, Partial<VerifySpin>, string])[] = [
    ['another seed', { server_seed: 'ab'.repeat(32) }, 'commitment'],
    ['another game', { game_uid: 'g-1002' }, 'commitment'],
    ['another commitment', { commitment: 'ab'.repeat(32) }, 'commitment'],
    ['another hash', { entries_hash: 'ab'.repeat(32) }, 'entries'],
    ['another order', { entries: vector.entries.toReversed() }, 'entries'],
    ['another winner', { draw: 3 }, 'draw'],
  ]
  for (const [name, change, step] of wrong) {
    const { valid, steps } = verdict(change)
    t.equal(valid, false, name)
    t.equal(steps.find(({ ok }) => !ok)?.step, step, name)
  }
  const { commitment: _commitment, ...silent } = vector
  t.match(verifySpin(silent, { commitment: undefined }), {
    valid: false,
    steps: [{ ok: false }],
  })
  const { entries_hash: _hash, draw: _draw, ...least } = vector
  t.match(verifySpin(least, { commitment: undefined }), { valid: true })
})

test('spins of this ledger', async (t) => {
  const open = await rouletteApp(t)
  const { game, loser } = await playedGame(open)
  const { fairness } = game

  await t.test('a loser verifies the spin', async (t) => {
    const ask = open.user(loser)
    const verdict = async (draw: object) => Object((await ask('POST', '/api/v1/fairness/verify', draw)).body).data

    for (const draw of [fairness, game, { ...fairness, id: game.id, unknown: 'field' }]) {
      const { valid, algorithm, steps } = await verdict(draw)
      t.same(
        [algorithm, valid, steps.map(({ step }: { step: string }) => step)],
        ['rr1', true, ['commitment', 'entries', 'ledger', 'draw']],
      )
    }
    const { commitment: _, ...silent } = fairness
    t.equal((await verdict(silent)).valid, true, 'the commitment of a game of this ledger is known')

    const [first, ...others] = fairness.entries
    const forged: readonly (readonly [object, string])[] = [
      [{ ...fairness, commitment: 'ab'.repeat(32) }, 'commitment'],
      [{ ...fairness, incarnation: 'ab'.repeat(16) }, 'ledger'],
      [{ ...fairness, draw: (fairness.draw + 1) % fairness.entries.length }, 'ledger'],
      [{ ...fairness, entries: [{ ...first, client_seed: 'other' }, ...others], entries_hash: undefined }, 'ledger'],
      [{ ...fairness, entries: others }, 'entries'],
      [{ ...fairness, server_seed: '00'.repeat(32) }, 'commitment'],
      [{ ...fairness, game_uid: `${game.uid}0` }, 'commitment'],
      [{ ...game, winner: { ...game.winner, id: loser } }, 'ledger'],
      [{ ...game, winner: null }, 'ledger'],
      [{ ...game, prize: game.prize + 1 }, 'ledger'],
      [{ ...game, pot: game.pot + 1 }, 'ledger'],
      [{ ...game, game_price: game.game_price + 1 }, 'ledger'],
      [{ ...game, players_count: 4 }, 'ledger'],
      [{ ...game, status: 'cancelled' }, 'ledger'],
      [{ ...game, uid: 'g-1-x' }, 'ledger'],
    ]
    for (const [draw, step] of forged) {
      const { valid, steps } = await verdict(draw)
      t.equal(valid, false)
      t.equal(steps.find(({ ok }: { ok: boolean }) => !ok).step, step)
    }
    const stepsOf = async (draw: object) =>
      (await verdict(draw)).steps.map(({ step, ok }: Record<string, unknown>) => [step, ok])
    t.match(await stepsOf({ ...fairness, server_seed: '00'.repeat(32) }), [{}, {}, ['ledger', false], {}])
    t.equal(
      (await stepsOf({ ...fairness, game_uid: `${game.uid}0` })).length,
      4,
      'a game that the ledger does not have',
    )
    t.same([...open.ledger.bugs, ...open.ledger.failures], [])
  })

  await t.test('malformed draws are refused with the name of the field', async (t) => {
    const ask = (body: object) => open.user(1)('POST', '/v1/fairness/verify', body)
    const lucky = { chain: '1-1', k: 1, link: 'ab'.repeat(32), client_seed: 'x', orders: [{}] }
    const rows: readonly (readonly [object, string])[] = [
      [{}, 'body'],
      [{ ...lucky, k: 'x' }, 'k'],
      [{ ...fairness, server_seed: 'x' }, 'server_seed'],
      [{ ...fairness, entries: [] }, 'entries'],
      [{ ...fairness, entries: [{ ...fairness.entries[0], stake: '1' }] }, 'entries.0.stake'],
      [{ fairness: { commitment: fairness.commitment }, winner: null }, 'fairness.server_seed'],
      [{ fairness, winner: { id: 1.5 } }, 'winner.id'],
      [{ ...fairness, server_seed: undefined }, 'body'],
    ]
    for (const [body, field] of rows) {
      const response = await ask(body)
      t.match(response, { status: 422, body: { code: 'validation_failed', errors: { [field]: [String] } } }, field)
    }
    for (const body of [
      { ...lucky, algorithm: 'rr1' },
      { ...fairness, algorithm: 'lg1' },
      { fairness: { ...fairness, algorithm: 'lg1' } },
    ]) {
      t.match(await ask(body), { status: 422, body: { code: 'validation_failed' } }, 'the name of the other algorithm')
    }
    t.match(await ask({ ...fairness, link: 5, k: 'x' }), { status: 200 }, 'other fields are ignored')
  })
})
