import { test } from 'tap'
import { main } from '../../../scripts/approvals.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { createTestApp } from '../../harness/app/test-app.ts'
import { queryRows, testOpening } from '../../harness/ledger/test-executor.ts'
import { callCommandLine } from '../call-command-line.ts'

test('a command line sets approvals, and every instance obeys with its next command', async (t) => {
  const first = await createTestApp(t)
  const { database, operator } = first
  await first.ledger.runOk(genesis, testOpening)
  const second = await createTestApp(t, { database })
  const set = (...args: string[]) => callCommandLine(main, database.serviceUrl, ['set', ...args])
  await operator('POST', '/admin/v1/users', { users: [{ id: 7 }] })
  const credits = async (amount: number) => {
    const move = { currency: 'coins', amount, reason: 'a prize' }
    const responses = [
      await first.staff('ben')('POST', '/admin/v1/users/7/credits', move),
      await second.staff('cem')('POST', '/admin/v1/users/7/credits', move),
    ]
    return responses.map(({ status }) => status)
  }
  t.same(await credits(1_000), [201, 201])
  t.match(await set('on', '{"coins":10}'), {
    code: 0,
    out: `APPROVALS=on APPROVAL_LIMITS='{"coins":10}': every instance and command line obeys with its next command\n`,
  })
  t.same(await credits(10), [201, 201])
  t.same(await credits(1), [202, 202])
  t.match(await set('on', '{"coins":11}'), { code: 0 })
  t.same(await credits(1), [201, 201])
  t.match(await set('on', '{"coins":11,"cards":0}'), { code: 0 })
  t.match(await set('off'), { code: 0, out: /^APPROVALS=off: / })
  t.same(await credits(1_000), [201, 201])

  t.match(await set('on'), { code: 1, err: /^approvals stopped: limits are missing: a JSON object such as / })
  t.match(await set('off', '{}'), { code: 1, err: /^approvals stopped: off has no limits/ })
  t.match(await set('on', '{"pearls":1}'), { code: 1, err: /Expected a JSON object such as .* by coins, / })
  t.match(await set('maybe'), { code: 1, err: /Allowed choices are on, off/ })
  const events = await queryRows(
    database,
    `select split_part(actor, ':', 1) as actor, data from ledger where type = 'approvals-set' order by position`,
  )
  t.same(events, [
    { actor: 'staff', data: '{"limits":{"coins":10}}' },
    { actor: 'staff', data: '{"limits":{"coins":11}}' },
    { actor: 'staff', data: '{"limits":null}' },
  ])
  t.same((await verifyDatabase(database)).findings, [])
})
