import { test } from 'tap'
import { PacedPages } from '../../src/realtime/channels/paced-pages.ts'
import { storedEvent } from '../harness/ledger/stored-event.ts'

const eventOf = (characters: number) => storedEvent(1, { data: 'x'.repeat(characters) })

test('pages grow while events are short, and shrink to one event while they are long', async (t) => {
  const pages = new PacedPages(true)
  const sizes: number[] = []
  for (const characters of [100, 100, 100, 100, 100, 15_000, 4_000, 60_000, 100]) {
    const size = await pages.next()
    sizes.push(size)
    pages.adapt(Array.from({ length: size }, () => eventOf(characters)))
  }
  t.same(sizes, [4, 8, 16, 32, 50, 50, 3, 6, 1])
  pages.adapt([])
  t.equal(await pages.next(), 2, 'a page without events changes nothing')
})

test('a page rests for as long as the one before took, within bounds', async (t) => {
  let now = 0
  const rests: number[] = []
  const clock = {
    now: () => now,
    sleep: async (ms: number) => {
      rests.push(ms)
      now += ms
    },
  }
  const pages = new PacedPages(true, clock)
  for (const took of [3, 20, 200, 1]) {
    await pages.next()
    now += took
  }
  t.same(rests, [3, 20, 50], 'nothing before the first page')
  const unpaced = new PacedPages(false, clock)
  for (let i = 0; i < 3; i += 1) {
    await unpaced.next()
    now += 100
  }
  t.equal(rests.length, 3, 'no rests for a read that others wait for')
})
