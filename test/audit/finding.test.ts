import { test } from 'tap'
import { Findings, type FoundAt, MOST_FINDINGS } from '../../src/audit/finding.ts'

const found = (position: number, message: string): FoundAt => ({
  finding: { check: 'rules', position, message },
  events: position,
})

test('what both halves find is told once, and counts once', (t) => {
  const findings = new Findings()
  const overdrawn = Array.from({ length: MOST_FINDINGS - 1 }, (_, i) => found(i + 1, 'game:5:coins is overdrawn'))
  findings.addAll(overdrawn)
  findings.addAll(overdrawn)
  t.equal(findings.full, false)
  t.same(
    findings.inOrder(),
    overdrawn.map(({ finding }) => finding),
  )
  t.equal(findings.enough, undefined)
  findings.addAll([found(7, 'user:1:dollars is overdrawn')])
  t.equal(findings.full, true)
  t.same(findings.enough, { position: 19, events: 19 })
  t.end()
})
