import { createHash, createHmac } from 'node:crypto'
import { test } from 'tap'
import { CHAIN_LENGTH, chainStart, drawOrder, hashTimes, luckyChains } from '../../../src/features/fairness/lg1.ts'
import { reduceWord, uniform } from '../../../src/features/fairness/uniform.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test('the published test vectors hold', (t) => {
  const length = 1024
  const start = Uint8Array.from({ length: 32 }, (_, i) => i)
  const link = (k: number) => hashTimes(start, length - k)
  const r = (k: number, i: number) => drawOrder(link(k), 'c-1', 'alice-seed-1', k, i, 1_000_000).r
  t.equal(hex(hashTimes(start, length)), '014f68f1316b596d8f66923bacb9555f83e22c9887068760371c5b3f299e464b')
  t.equal(hex(link(1)), '2f9e6381ca267e772e5a8181b05453cd1a084fc7d6f7816485fa3ca18d10f2a9')
  t.equal(r(1, 0), 744227)
  t.equal(r(1, 1), 84878)
  t.equal(hex(link(2)), '734513900cc5396998e4347189eea31a2fb7ea3efbd14a473a571431739c5b09')
  t.equal(r(2, 0), 926375)
  t.end()
})

test('words that would bias the remainder are rejected', (t) => {
  t.equal(reduceWord(0xffff_ffff_ffff_ffffn, 1_000_000), null)
  t.equal(reduceWord(7n, 1_000_000), 7)
  const limit = ((1n << 64n) / 1_000_000n) * 1_000_000n
  t.equal(reduceWord(limit - 1n, 1_000_000), 999_999)
  t.equal(reduceWord(limit, 1_000_000), null)
  t.equal(reduceWord(0xffff_ffff_ffff_ffffn, 1), 0)
  t.end()
})

test('a number is the remainder of the first word that is not rejected', (t) => {
  const key = Buffer.alloc(32, 7)
  const { r, words } = uniform(key, 'label', 1_000_000_000)
  const mac = createHmac('sha256', key).update('label|0').digest()
  t.equal(words[0], mac.subarray(0, 8).toString('hex'))
  t.equal(r, Number(mac.readBigUInt64BE(0) % 1_000_000_000n))
  t.end()
})

test('every link of a chain hashes to the one before it, the first to the commitment', (t) => {
  const chains = luckyChains('a key')
  const name = { incarnation: 'i', chain: '7-1' }
  const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()
  t.equal(hex(chainStart('a key', name)), createHmac('sha256', 'a key').update('lg1|i|7-1').digest('hex'))
  let before = chains.commitment(name)
  for (let k = 1; k <= CHAIN_LENGTH; k += 1) {
    const link = chains.link(name, k)
    if (hex(sha(link)) !== before) t.fail(`link ${k} does not follow`)
    before = hex(link)
  }
  t.equal(before, hex(chainStart('a key', name)), 'the last link is s(0)')
  t.equal(chains.commitment(name), luckyChains('a key').commitment(name), 'the same key, the same chain')
  t.not(chains.commitment(name), luckyChains('another key').commitment(name))
  t.throws(() => chains.link(name, 0), RangeError)
  t.throws(() => chains.link(name, CHAIN_LENGTH + 1), RangeError)
  t.end()
})
