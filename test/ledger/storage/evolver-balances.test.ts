import { assert, nat, property, string } from 'fast-check'
import { test } from 'tap'
import { isReadByEvolvers, isReadByEvolversAt } from '../../../src/ledger/storage/text-bytes.ts'
import { runs } from '../../harness/properties.ts'

test('isReadByEvolversAt agrees with isReadByEvolvers', async (t) => {
  const odd = ['', 'dollars', 'ollars', 'game:', 'game', 'game:7:coins', 'user:1:dollars', 'user:1:agent_dollars']
  const plain = ['user:1:diamonds', 'house:game:coins', 'user:7:dollarss', 'agame:7:coins', 'é:dollars']
  for (const name of [...odd, ...plain]) {
    for (const before of ['', 'dollars', 'game:', 'user:1:dol']) {
      for (const after of ['', 'lars', ':7:coins']) {
        const bytes = Buffer.from(`${before}${name}${after}`)
        const start = Buffer.byteLength(before)
        t.equal(
          isReadByEvolversAt(bytes, start, Buffer.byteLength(name)),
          isReadByEvolvers(name),
          `${before}|${name}|${after}`,
        )
      }
    }
  }
  assert(
    property(nat(), string(), (id, more) => {
      for (const name of [`game:${id}:coins`, `user:${id}:dollars`, more]) {
        const bytes = Buffer.from(name)
        t.equal(isReadByEvolversAt(bytes, 0, bytes.length), isReadByEvolvers(name))
      }
    }),
    runs(100),
  )
})
