import { test } from 'tap'
import { type EventFinding, Findings, MAX_FINDINGS } from '../../src/audit/verify/finding.ts'

const found = (position: number, message: string): EventFinding => ({
  finding: { check: 'rules', position, message },
  events: position,
})

test('a finding that two checks make is reported and counted once', async (t) => {
  const findings = new Findings()
  const overdrawn = Array.from({ length: MAX_FINDINGS - 1 }, (_, i) => found(i + 1, 'game:5:coins is overdrawn'))
  findings.addAll(overdrawn)
  findings.addAll(overdrawn)
  t.equal(findings.isFull, false)
  t.same(
    findings.sorted(),
    overdrawn.map(({ finding }) => finding),
  )
  t.equal(findings.cutoff, undefined)
  findings.addAll([found(7, 'user:1:dollars is overdrawn')])
  t.equal(findings.isFull, true)
  t.same(findings.cutoff, { position: 19, events: 19 })
})
