import { createHash, createHmac } from 'node:crypto'
import { test } from 'tap'
import { spinSeeds } from '../../../src/features/fairness/algorithms.ts'

test('a game’s seed follows from the key, its uid and the incarnation', async (t) => {
  const seeds = spinSeeds('a key')
  const game = { incarnation: 'i', uid: 'g-9' }
  t.same(seeds.seed(game), createHmac('sha256', 'a key').update('rr1|i|g-9').digest())
  t.equal(seeds.keyHash, createHash('sha256').update('a key').digest('hex'))
  t.notSame(seeds.seed(game), seeds.seed({ ...game, uid: 'g-10' }))
  t.notSame(seeds.seed(game), seeds.seed({ ...game, incarnation: 'j' }))
  t.notSame(seeds.seed(game), spinSeeds('another key').seed(game))
})
