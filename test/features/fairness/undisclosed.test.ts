import { test } from 'tap'
import type { SendRequest } from '../../harness/app/test-app.ts'
import { dataOf, playedGame, rouletteApp, rouletteUrl } from '../roulette/roulette-app-fixture.ts'

interface Step {
  readonly step: string
  readonly ok: boolean
  readonly values: unknown
}

const verdictOf = async (
  ask: SendRequest,
  draw: object,
): Promise<{ readonly valid: boolean; readonly steps: Step[] }> =>
  dataOf(await ask('POST', '/api/v1/fairness/verify', draw))

const ledgerStep = ({ steps }: { readonly steps: readonly Step[] }) => steps.find(({ step }) => step === 'ledger')

const notHeld = { step: 'ledger', ok: false, why: 'the ledger holds no such draw', values: {} }

test('what is not disclosed', async (t) => {
  const open = await rouletteApp(t)
  const { operator, user, ledger } = open

  await t.test('trying order ids reveals nothing about the draws of others', async (t) => {
    const odds = [
      { multiplier: 0, weight: 600 },
      { multiplier: 1.5, weight: 400 },
    ]
    await operator('PUT', '/admin/v1/decorations/2', { name: 'Clover', kind: 'lucky', price: 10, odds })
    for (const id of [1, 2]) {
      await operator('POST', `/admin/v1/users/${id}/credits`, { currency: 'diamonds', amount: 10_000, reason: 'test' })
      await user(id)('POST', '/v1/instant-send', {
        u_id: id,
        decoration_id: 2,
        user_id: [3],
        quantity: 2,
        room_id: 'R1',
      })
    }
    const drawOf = async (id: number) => dataOf(await user(id)('GET', '/v1/fairness/lucky/draws'))[0]
    const [mine, theirs] = [await drawOf(1), await drawOf(2)]
    const ask = user(1)

    t.match(await verdictOf(ask, mine), { valid: true })
    t.match(ledgerStep(await verdictOf(ask, mine)), { ok: true, values: { chain: '1-1', orders: mine.orders } })
    t.match(await verdictOf(user(3), mine), { valid: true }, 'anyone who was shown a draw may verify it')

    // The odds are public. Everything else is guessed, or the caller's own.
    const { odds_hash, decoration_id } = mine
    const last = Number.parseInt(theirs.orders[0].order_id, 10)
    const guesses = Array.from({ length: 18 }, (_, i) => `${last - i + 1}-0`).filter(
      (id) => id !== mine.orders[0].order_id,
    )
    const link = 'ab'.repeat(32)
    const chains = [
      { chain: '1-1', link: mine.link },
      { chain: '1-1', link },
      { chain: '2-1', link: mine.link },
      { chain: '2-1', link },
      { chain: '2-7', link },
      { chain: '999-1', link },
    ]
    for (const at of chains) {
      const verdicts = await Promise.all(
        guesses.map((order_id) =>
          verdictOf(ask, { ...at, k: 1, client_seed: 'x', odds_hash, decoration_id, orders: [{ order_id }] }),
        ),
      )
      t.notOk(verdicts.some(({ valid }) => valid))
      t.match(ledgerStep(verdicts[0] ?? { steps: [] }), notHeld)
      const answers = verdicts.map(({ steps }) => JSON.stringify(steps))
      t.equal(new Set(answers).size, 1, `the same for every order, with ${JSON.stringify(at)}`)
    }
    const shown = await Promise.all(
      ['2-1', '2-7', '999-1'].map(async (chain) => {
        const draw = { chain, k: 1, link, client_seed: 'x', orders: [{ order_id: theirs.orders[0].order_id }] }
        return JSON.stringify((await verdictOf(ask, draw)).steps).replaceAll(chain, '')
      }),
    )
    t.equal(new Set(shown).size, 1, 'nor is it revealed whether a chain exists')

    const forged = { ...theirs, commitment: undefined, link: mine.link }
    t.match(ledgerStep(await verdictOf(ask, forged)), notHeld, 'all but the link')
    t.match(ledgerStep(await verdictOf(ask, { ...theirs, k: 2 })), notHeld, 'all but k')
  })

  await t.test('a spin reveals nothing without its seed', async (t) => {
    const { game } = await playedGame(open)
    const running = dataOf(await user(1)('POST', `${rouletteUrl}/create`, { game_price: 30, max_players: 3 }))
    const { fairness } = game
    t.match(await verdictOf(user(5), game), { valid: true }, 'anyone who was shown a spin may verify it')

    const server_seed = '00'.repeat(32)
    const shown = await Promise.all(
      [game.uid, running.uid, 'g-999-abc'].map(async (game_uid) => {
        const { valid, steps } = await verdictOf(user(5), { game_uid, server_seed, entries: fairness.entries })
        t.equal(valid, false)
        t.match(ledgerStep({ steps }), { ok: false, values: {} })
        t.notOk(JSON.stringify(steps).includes(fairness.commitment), 'the commitment is not revealed')
        return JSON.stringify(steps.filter(({ step }) => step === 'ledger'))
      }),
    )
    t.equal(new Set(shown).size, 1, 'the same for an ended game, an open one and none')
  })
  t.same([...ledger.bugs, ...ledger.failures], [])
})
