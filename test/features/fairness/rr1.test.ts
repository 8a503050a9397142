import { createHash, createHmac } from 'node:crypto'
import { test } from 'tap'
import {
  entriesHash,
  entryLines,
  type SpinEntry,
  spin,
  spinCommitment,
  spinLabel,
  spinSeeds,
} from '../../../src/features/fairness/rr1.ts'
import { isFullRun } from '../../harness/long-tests.ts'

const seed = Buffer.from('f0e1d2c3b4a5968778695a4b3c2d1e0f00112233445566778899aabbccddeeff', 'hex')
const five: readonly SpinEntry[] = ['aa01', 'bb02', 'cc03', 'dd04', 'ee05'].map((client_seed, i) => ({
  entry: `e${i + 1}`,
  user_id: `u${i + 1}`,
  stake: 100,
  client_seed,
}))

test('the published test vectors hold', (t) => {
  t.equal(spinCommitment('g-1001', seed), 'fa82faba5b87cf69d59c4255e4479cfd69768a59812771060444462d4a6bc9b3')
  t.equal(entriesHash(five), '32a3fabee5e578376069eaa757a611d38ac4a4cea0cea9dd187cc34c7372d023')
  t.equal(spin(seed, 'g-1001', five).r, 2)
  const four = five.slice(0, 4)
  t.equal(entriesHash(four), '5fba65a130fd5326ab939cce9a9bef68672e99123dbb964d17fcf165eae774b2')
  t.equal(spin(seed, 'g-1001', four).r, 2)
  t.end()
})

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

const [FEW, MANY] = isFullRun ? ([10_000, 100_000] as const) : ([5_000, 20_000] as const)

/** The chi-square of how often each of `players` won `spins` games, each with a seed and a uid of its own. */
function chiSquare(players: number, spins: number): number {
  const seeds = spinSeeds('a key for many spins')
  const entries = Array.from({ length: players }, (_, i) => ({
    entry: i + 10,
    user_id: i + 1,
    stake: 100,
    client_seed: '',
  }))
  const wins = Array.from({ length: players }, () => 0)
  for (let game = 0; game < spins; game += 1) {
    const uid = `g-${game}-${players}`
    const { r } = spin(seeds.seed({ incarnation: '', uid }), uid, entries)
    wins[r] = (wins[r] ?? 0) + 1
  }
  const expected = spins / players
  return wins.reduce((sum, won) => sum + (won - expected) ** 2 / expected, 0)
}

test(`all players win equally often: chi-square over ${3 * FEW + MANY} spins`, (t) => {
  // Critical values for a probability of 0.001. The spins are the same in every run, so the test cannot fail by chance.
  const rows = [
    { players: 5, spins: MANY, critical: 18.467 },
    { players: 2, spins: FEW, critical: 10.828 },
    { players: 7, spins: FEW, critical: 22.458 },
    { players: 50, spins: FEW, critical: 85.351 },
  ]
  for (const { players, spins, critical } of rows) {
    const square = chiSquare(players, spins)
    t.ok(square < critical, `${players} players, ${spins} spins: ${square.toFixed(2)} < ${critical}`)
  }
  t.end()
})

test('the winner depends on every player’s seed, the last one’s included', (t) => {
  const last = five[4]
  if (last === undefined) throw new Error('no fifth player')
  const winners = new Set<number>()
  for (let i = 0; i < 100; i += 1) {
    winners.add(spin(seed, 'g-1001', [...five.slice(0, 4), { ...last, client_seed: `s${i}` }]).r)
  }
  t.equal(winners.size, 5)
  t.end()
})
