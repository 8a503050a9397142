import { assert, property, stringMatching, tuple } from 'fast-check'
import { test } from 'tap'
import { CHAIN_LENGTH, chainId, luckyChains, spinSeeds } from '../../../src/features/fairness/algorithms.ts'
import { gameUid } from '../../../src/features/roulette/game.ts'
import { FIXED_NOW } from '../../harness/ledger/given-when.ts'
import { runs } from '../../harness/properties.ts'

const incarnation = stringMatching(/^[0-9a-f]{32}$/)

test('ledgers with the same key and different incarnations share no link and no seed of a game', async (t) => {
  const users = [1, 11]
  const numbers = [1, 2]
  const games = [1, 2, 11]
  assert(
    property(
      stringMatching(/^.{1,40}$/),
      tuple(incarnation, incarnation).filter(([a, b]) => a !== b),
      (fairnessKey, incarnations) => {
        const [chains, seeds] = [luckyChains(fairnessKey), spinSeeds(fairnessKey)]
        const secrets = incarnations.flatMap((incarnation) => [
          ...users.flatMap((user) =>
            numbers.flatMap((number) => {
              const name = { incarnation, chain: chainId(user, number) }
              const links = Array.from({ length: CHAIN_LENGTH }, (_, i) => chains.link(name, i + 1))
              return [chains.commitment(name), ...links.map((link) => Buffer.from(link).toString('hex'))]
            }),
          ),
          ...games.map((id) => {
            const uid = gameUid(id, FIXED_NOW)
            return Buffer.from(seeds.seed({ incarnation, uid })).toString('hex')
          }),
        ])
        t.equal(new Set(secrets).size, 2 * (users.length * numbers.length * (CHAIN_LENGTH + 1) + games.length))
      },
    ),
    runs(5),
  )
})
