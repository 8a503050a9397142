import { createHash, createHmac } from 'node:crypto'
import { test } from 'tap'
import { entriesHash, entryLines, spin, spinLabel, spinSeeds } from '../../../src/features/fairness/rr1.ts'

const seed = Buffer.from('f0e1d2c3b4a5968778695a4b3c2d1e0f00112233445566778899aabbccddeeff', 'hex')

test('the hashed text and the draw can be computed by hand', (t) => {
  const entries = [
    { entry: 12, user_id: 7, stake: 30, client_seed: '' },
    { entry: 15, user_id: 3, stake: 30, client_seed: 'mine' },
  ]
  t.equal(entryLines(entries), '0|12|7|30|\n1|15|3|30|mine\n')
  const hash = createHash('sha256').update('0|12|7|30|\n1|15|3|30|mine\n').digest('hex')
  t.equal(entriesHash(entries), hash)
  t.equal(spinLabel('g-9', hash), `rr1|g-9|${hash}|-`)
  const word = createHmac('sha256', seed).update(`rr1|g-9|${hash}|-|0`).digest().readBigUInt64BE(0)
  t.same(spin(seed, 'g-9', entries), { r: Number(word % 2n), words: [word.toString(16).padStart(16, '0')] })
  t.end()
})

test('a game’s seed follows from the key, its uid and the incarnation', (t) => {
  const seeds = spinSeeds('a key')
  const game = { incarnation: 'i', uid: 'g-9' }
  t.same(seeds.seed(game), createHmac('sha256', 'a key').update('rr1|i|g-9').digest())
  t.equal(seeds.keyHash, createHash('sha256').update('a key').digest('hex'))
  t.notSame(seeds.seed(game), seeds.seed({ ...game, uid: 'g-10' }))
  t.notSame(seeds.seed(game), seeds.seed({ ...game, incarnation: 'j' }))
  t.notSame(seeds.seed(game), spinSeeds('another key').seed(game))
  t.end()
})
