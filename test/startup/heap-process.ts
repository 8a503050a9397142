import { getHeapSpaceStatistics } from 'node:v8'
import { limitHeapGrowth } from '../../src/startup/process.ts'

// Prints the least and the most bytes of the old generation while about 75 MB of objects are alive at a time.

const oldSpace = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN

limitHeapGrowth()
const ring: unknown[] = []
let [least, most] = [Number.POSITIVE_INFINITY, 0]
// Each lives long enough to be promoted to the old generation.
for (let i = 0; i < 12_000_000; i += 1) {
  ring[i % 1_000_000] = { i, of: { i } }
  if (i < 2_000_000 || i % 20_000 > 0) continue
  least = Math.min(least, oldSpace())
  most = Math.max(most, oldSpace())
}
console.log(JSON.stringify({ least, most }))
