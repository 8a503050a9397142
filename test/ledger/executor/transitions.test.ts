import { test } from 'tap'
import { assertTransition, type Transitions } from '../../../src/ledger/executor/transitions.ts'

test('a transition that the table does not have throws', async (t) => {
  const lamp: Transitions<'on' | 'off' | 'broken'> = { on: ['off', 'broken'], off: ['on'], broken: [] }
  assertTransition(lamp, 'on', 'off')
  assertTransition(lamp, 'off', 'on')
  t.throws(() => assertTransition(lamp, 'off', 'broken'), new Error('illegal transition from off to broken'))
  t.throws(() => assertTransition(lamp, 'broken', 'on'), new Error('illegal transition from broken to on'))
})
