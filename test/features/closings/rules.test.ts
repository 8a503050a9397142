import { test } from 'tap'
import type { AcknowledgedFinding } from '../../../schema/events.ts'
import {
  closingSteps,
  closings,
  evolveClosings,
  LEDGER,
  lastClosings,
  monthEnds,
  nextMonth,
} from '../../../src/features/closings/closing.ts'
import {
  type AcknowledgeFinding,
  acknowledgeFinding,
  evolveAcknowledgements,
  findingId,
  mayBeAcknowledged,
  positionIn,
} from '../../../src/features/closings/finding.ts'
import { type RecordClosing, recordClosing } from '../../../src/features/closings/record-closing.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
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
  findings: [],
  unchanged: true,
  sealed: null,
  files,
  checkpoint: checkpointOf(40),
  ...fields,
})

const closed = (month: string, position: number, acknowledged: AcknowledgedFinding[] = []) =>
  ({
    type: 'month-closed',
    data: { month, position, files, checkpoint: checkpointOf(position), acknowledged },
    movements: [],
  }) as const

test('a month is closed with its files, and the next one begins from it', async (t) => {
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
})

test('refusals, in the order of precedence', async (t) => {
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
})

test('events of closings that no rule allows are refused in a replay', async (t) => {
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
})

test('a month is over with its last microsecond in UTC, and years follow each other', async (t) => {
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
})

const unexplained = findingId('exceptions', 'unexplained', '7')

/** An act without a reason, as the steps of October say it. */
const act = (fields: Partial<AcknowledgeFinding> = {}): AcknowledgeFinding => ({
  month: '2026-10',
  finding: unexplained,
  reason: 'said by telephone',
  found: { step: 'exceptions', kind: 'unexplained', subject: '7', is_own: false },
  ...fields,
})

test('the id of a finding is that of its step, kind and subject, and nothing else', async (t) => {
  // printf 'exceptions|unexplained|7' | sha256sum
  t.equal(unexplained, 'fa4c4613e7aaf513')
  t.not(findingId('exceptions', 'overdrawn', '7'), unexplained)
  t.equal(positionIn('7'), 7)
  for (const subject of ['user:7:coins', 'balances:user:7:coins', '0', '-1', '007', ''])
    t.equal(positionIn(subject), null)
  for (const kind of ['order', 'hash', 'checkpoint', 'head', 'projection', 'reply']) {
    t.equal(mayBeAcknowledged('verify', kind), false, kind)
  }
  for (const kind of [
    'approval',
    'rules',
    'draw',
    'time',
    'form',
    'holds',
    'vault',
    'double-entry',
    'lost_by_restore',
  ]) {
    t.equal(mayBeAcknowledged('verify', kind), true, kind)
  }
})

test('what was acknowledged stops no closing, is listed in it, and in later ones', async (t) => {
  const { when } = givenWhen(evolveClosings, evolveAcknowledgements)
  const found = october({ findings: [unexplained] })
  t.equal(when(recordClosing, found).refusal?.refusal, 'closing_step_failed')
  const { events, answer } = when(acknowledgeFinding, act(), { actor: 'staff:bea' })
  t.match(events, [
    { type: 'finding-acknowledged', data: { finding: unexplained, subject: '7', acknowledged_by: 'staff:bea' } },
  ])
  t.match(answer, { acknowledgement_id: 1, finding: unexplained, month: '2026-10', reason: 'said by telephone' })
  const listed = { id: 1, finding: unexplained, acknowledged_by: 'staff:bea', reason: 'said by telephone' }
  t.match(when(recordClosing, found).events, [{ data: { acknowledged: [listed] } }])
  const november = october({
    month: '2026-11',
    position: 55,
    covered: { first: 41, last: 55 },
    findings: [unexplained],
  })
  const later = { now: monthEnds('2026-11') + 1 }
  const next = when(recordClosing, { ...november, checkpoint: checkpointOf(55) }, later)
  t.match(next.events, [{ data: { acknowledged: [{ ...listed, month: '2026-10' }] } }])
})

test('refusals of an acknowledgement, in the order of precedence', async (t) => {
  const own = { step: 'verify', kind: 'hash', subject: '7', is_own: true }
  const hash = { ...own, is_own: false }
  const acknowledged = (): LedgerEvent => ({
    type: 'finding-acknowledged',
    data: {
      finding: unexplained,
      step: 'exceptions',
      kind: 'unexplained',
      subject: '7',
      month: '2026-10',
      acknowledged_by: 'staff:bea',
      reason: 'said by telephone',
    },
    movements: [],
  })
  const table: readonly (readonly [code: string, input: AcknowledgeFinding, ...before: LedgerEvent[]])[] = [
    ['own_finding', act({ found: own }), closed('2026-10', 40)],
    ['month_closed', act({ found: null }), closed('2026-10', 40)],
    ['validation_failed', act({ found: null }), acknowledged()],
    ['finding_not_acknowledgeable', act({ found: hash }), acknowledged()],
    ['already_acknowledged', act(), acknowledged()],
  ]
  for (const [code, input, ...before] of table) {
    const { given, when } = givenWhen(evolveClosings, evolveAcknowledgements)
    given(...before)
    const { refusal, events } = when(acknowledgeFinding, input)
    t.same([refusal?.refusal, events], [code, []], code)
  }
  const replay = (...events: readonly LedgerEvent[]): void =>
    givenWhen(evolveClosings, evolveAcknowledgements).given(...events)
  const { data } = acknowledged()
  const changed = (fields: object): LedgerEvent =>
    Object.assign(acknowledged(), { data: Object.assign({}, data, fields) })
  t.throws(() => replay(changed({ subject: '8' })), { message: /is not the id of exceptions unexplained 8/ })
  t.throws(() => replay(changed({ finding: findingId('verify', 'hash', '7'), step: 'verify', kind: 'hash' })), {
    message: /a finding of hash cannot be acknowledged/,
  })
  t.throws(() => replay(acknowledged(), acknowledged()), { message: /acknowledged already/ })
  t.throws(() => replay(closed('2026-10', 40), acknowledged()), { message: /closed already/ })
  const listed = { id: 1, finding: unexplained, step: 'exceptions', kind: 'unexplained', subject: '7' }
  const truth = { ...listed, month: '2026-10', acknowledged_by: 'staff:bea', reason: 'said by telephone' }
  replay(acknowledged(), closed('2026-10', 40, [truth]))
  for (const lie of [{ reason: 'x' }, { acknowledged_by: 'staff:eve' }, { id: 2 }, { finding: '0'.repeat(16) }]) {
    t.throws(() => replay(acknowledged(), closed('2026-10', 40, [{ ...truth, ...lie }])), {
      message: /which was not acknowledged so/,
    })
  }
})
