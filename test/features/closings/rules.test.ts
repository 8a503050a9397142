import { test } from 'tap'
import { closings, evolveClosings, LEDGER, lastClosings } from '../../../src/features/closings/closing.ts'
import { closingSteps } from '../../../src/features/closings/closing-steps.ts'
import { monthEnds, nextMonth } from '../../../src/features/closings/month.ts'
import { type RecordClosing, recordClosing } from '../../../src/features/closings/record-closing.ts'
import { FIXED_NOW, givenWhen } from '../../harness/ledger/given-when.ts'

const hash = 'ab'.repeat(32)
const checkpointOf = (position: number) => ({
  position,
  hash,
  at: '2026-11-01T09:00:00.000000Z',
  algorithm: 'Ed25519' as const,
  public_key: 'key',
  signature: 'signature',
})
const files = [{ name: 'entries.csv', sha256: hash }]

/** October as its folder says it when all steps are done. */
const october = (fields: Partial<RecordClosing> = {}): RecordClosing => ({
  month: '2026-10',
  position: 40,
  hash,
  running: false,
  covered: { first: 1, last: 40 },
  done: [...closingSteps],
  failed: [],
  unchanged: true,
  files,
  checkpoint: checkpointOf(40),
  ...fields,
})

const closed = (month: string, position: number) =>
  ({
    type: 'month-closed',
    data: { month, position, files, checkpoint: checkpointOf(position) },
    movements: [],
  }) as const

test('a month is closed with its files, and the next one begins from it', (t) => {
  const { when, state } = givenWhen(evolveClosings)
  const { events, answer } = when(recordClosing, october())
  t.match(events, [closed('2026-10', 40)])
  t.match(answer, {
    month: '2026-10',
    closing_id: 1,
    first_position: 1,
    last_position: 40,
    files,
    closed_at: FIXED_NOW,
  })
  t.same(state.get(lastClosings, LEDGER), { ledger: LEDGER, month: '2026-10', last_position: 40 })

  const november = october({ month: '2026-11', position: 55, covered: { first: 41, last: 55 } })
  const later = { now: monthEnds('2026-11') + 1 }
  const { answer: second } = when(recordClosing, { ...november, checkpoint: checkpointOf(55) }, later)
  t.match(second, { first_position: 41, last_position: 55 })
  t.equal(state.get(closings, '2026-11')?.first_position, 41)
  t.end()
})

test('refusals, in the order of precedence', (t) => {
  const wrong = { done: [], failed: ['verify'], checkpoint: null, position: 0 }
  const table: readonly (readonly [code: string, input: RecordClosing, ...before: ReturnType<typeof closed>[]])[] = [
    ['month_closed', october(wrong), closed('2026-10', 40)],
    ['month_not_over', october({ ...wrong, month: '2026-11' }), closed('2026-08', 3)],
    ['month_out_of_order', october(wrong), closed('2026-08', 3)],
    ['month_out_of_order', october({ ...wrong, month: '2026-08' }), closed('2026-09', 3)],
    ['month_before_ledger', october(wrong)],
    ['steps_running', october({ ...wrong, position: 40, running: true })],
    ['closing_step_failed', october({ ...wrong, position: 40 })],
    ['closing_incomplete', october({ done: closingSteps.filter((step) => step !== 'draws') })],
    ['closing_outdated', october({ checkpoint: null })],
    ['closing_outdated', october({ hash: 'cd'.repeat(32) })],
    ['closing_outdated', october({ hash: null })],
    ['closing_outdated', october({ unchanged: false })],
    ['closing_outdated', october({ covered: { first: 1, last: 39 } })],
    ['closing_outdated', october({ covered: { first: 2, last: 40 } })],
    ['closing_outdated', october({ checkpoint: checkpointOf(39) })],
    ['closing_outdated', october(), closed('2026-09', 3)],
  ]
  for (const [code, input, ...before] of table) {
    const { given, when } = givenWhen(evolveClosings)
    given(...before)
    const { refusal, events } = when(recordClosing, input)
    t.same([refusal?.refusal, events], [code, []], `${code}: ${JSON.stringify(input).slice(0, 60)}`)
  }
  t.end()
})

test('events of closings that no rule allows are refused in a replay', (t) => {
  const table: readonly (readonly [message: RegExp, ...events: ReturnType<typeof closed>[]])[] = [
    [/2026-10 does not come after 2026-10/, closed('2026-10', 40), closed('2026-10', 41)],
    [/2026-12 does not come after 2026-10/, closed('2026-10', 40), closed('2026-12', 41)],
    [/2026-11 cannot end at position 39/, closed('2026-10', 40), closed('2026-11', 39)],
  ]
  for (const [message, ...events] of table) {
    t.throws(() => givenWhen(evolveClosings).given(...events), { message })
  }
  const wrong = { ...closed('2026-10', 40), data: { ...closed('2026-10', 40).data, checkpoint: checkpointOf(39) } }
  t.throws(() => givenWhen(evolveClosings).given(wrong), { message: /with the checkpoint of 39/ })
  t.end()
})

test('a month is over with its last microsecond in UTC, and years follow each other', (t) => {
  t.equal(nextMonth('2026-12'), '2027-01')
  t.equal(nextMonth('2026-01'), '2026-02')
  t.equal(nextMonth('9999-12'), '10000-01')
  t.equal(nextMonth('0000-12'), '0001-01')
  t.equal(monthEnds('9999-12'), Date.UTC(10_000, 0) * 1000 - 1)
  t.ok(monthEnds('0099-12') < monthEnds('1969-12'))
  const { when } = givenWhen(evolveClosings)
  const end = Date.UTC(2026, 10, 1) * 1000
  t.equal(when(recordClosing, october(), { now: end - 1 }).refusal?.refusal, 'month_not_over')
  t.equal(when(recordClosing, october(), { now: end }).refusal, undefined)
  t.end()
})
