import { createHash, createHmac } from 'node:crypto'
import { test } from 'tap'
import { CHAIN_LENGTH, chainStart, luckyChains } from '../../../src/features/fairness/algorithms.ts'

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test('every link of a chain hashes to the one before it, the first to the commitment', async (t) => {
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
})
