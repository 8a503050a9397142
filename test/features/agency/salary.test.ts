import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { main as setApprovals } from '../../../scripts/approvals.ts'
import { main } from '../../../scripts/salary.ts'
import { InvalidSalaryFile, parseSalaryFile } from '../../../src/features/agency/salary-file.ts'
import { verifyDatabase } from '../../audit/verify-database.ts'
import { decideProposal } from '../../harness/app/decide-proposal.ts'
import { temporaryFolder } from '../../harness/app/temporary-folder.ts'
import { queryRows } from '../../harness/ledger/test-executor.ts'
import { type CommandResult, callCommandLine } from '../call-command-line.ts'
import { agencyApp, dataOf } from './agency-fixture.ts'

/** One more than a command pays, and some. */
const MANY = 230

const salaryFile = (...lines: readonly string[]): string => ['user_id,dollars,agent_dollars', ...lines].join('\n')

test('salary files are parsed, with an error for each invalid row', async (t) => {
  const csv = (...lines: string[]) => parseSalaryFile('a.csv', lines.join('\n'), '2026-10')
  const deposit = (user_id: number, dollars: number, agent_dollars = 0, target = 0) => ({
    deposit: { user_id, dollars, agent_dollars, target },
  })
  t.same(csv('\ufeffuser_id,dollars,agent_dollars\r', '7,1.29,0\r', '\r', ' 8 , "12.50" ,0.5', ''), [
    { location: 'line 2', ...deposit(7, 129) },
    { location: 'line 4', ...deposit(8, 1_250, 50) },
  ])
  t.same(csv('Name,Target,Agent_dollars,Dollars,User_id', '"Amina, A.",70,0,1,7', 'B,,0,1,8'), [
    { location: 'line 2', ...deposit(7, 100, 0, 70) },
    { location: 'line 3', ...deposit(8, 100) },
  ])
  const rule = 'The value must be dollars from 0, with at most 13 digits before and 2 after the point.'
  const faults: [string, string][] = [
    ['7,1.291,0,0', `dollars: ${rule}`],
    ['7,"1,29",0,0', `dollars: ${rule}`],
    ['7,,0,0', `dollars: ${rule}`],
    ['7,1,1e2,0', `agent_dollars: ${rule}`],
    ['0,1,0,0', 'user_id must be the id of a user'],
    ['x7,1,0,0', 'user_id must be the id of a user'],
    ['7,1,0,1.5', 'target must be an integer from 0'],
    ['7,1,0,-1', 'target must be an integer from 0'],
    ['7,1,0', 'must have 4 columns'],
    ['7,1,0,0,0', 'must have 4 columns'],
    ['7,"1,0,0', 'must have 4 columns'],
  ]
  const faultyFile = csv('user_id,dollars,agent_dollars,target', ...faults.map(([line]) => line))
  t.same(
    faultyFile,
    faults.map(([, fault], i) => ({ location: `line ${i + 2}`, error: fault })),
  )
  t.match(csv('user_id,dollars,agent_dollars', '7,1,0', '8,1,0', '7,1,0')[2], {
    error: 'user 7 already appears in line 2',
  })
  for (const head of [
    '',
    'user_id,dollars',
    'user_id;dollars;agent_dollars',
    'user_id,dollars,dollars,agent_dollars',
  ]) {
    t.throws(() => csv(head, '7,1,1'), InvalidSalaryFile, head)
  }

  const json = (text: string) => parseSalaryFile('a.JSON', text, '2026-10')
  const rows =
    '[{"user_id":7,"dollars":1.290,"agent_dollars":"0.5"},{"user_id":8,"dollars":1e2,"agent_dollars":0,"target":3}]'
  const read = [
    { location: 'row 1', ...deposit(7, 129, 50) },
    { location: 'row 2', ...deposit(8, 10_000, 0, 3) },
  ]
  t.same(json(rows), read)
  t.same(json(`\ufeff${rows}`), read)
  t.same(json(`{"period":"2026-10","deposits":${rows}}`), read)
  t.match(
    json(
      '[7,{},{"user_id":"7","dollars":1,"agent_dollars":1},{"user_id":7,"dollars":9007199254740993,"agent_dollars":1}]',
    ),
    [{ error: 'must be an object' }, { error: /^user_id/ }, { error: /^user_id/ }, { error: /^dollars/ }],
  )
  for (const text of ['', '{}', '7', '{"deposits":7}', `{"period":"2026-11","deposits":${rows}}`]) {
    t.throws(() => json(text), InvalidSalaryFile, text)
  }
})

test('salaries', async (t) => {
  const { user, operator, database } = await agencyApp(t)
  const many = Array.from({ length: MANY }, (_, i) => 1_000 + i)
  await operator('POST', '/admin/v1/users', { users: many.map((id) => ({ id })) })

  await t.test('a file is paid once, however often it runs and wherever a run is interrupted', async (t) => {
    const file = join(temporaryFolder(t), 'october.csv')
    const run = (...args: string[]): Promise<CommandResult> => callCommandLine(main, database.serviceUrl, args)
    const october = ['--period', '2026-10', '--file', file]
    writeFileSync(file, salaryFile(...many.map((id) => `${id},1.5,0`), '99,5,0', '3,1,x'))

    const dry = await run(...october, '--dry-run')
    t.match(dry, { code: 1, err: '' })
    t.match(dry.out, /\nto pay: 230, already paid: 0, refused: 2\n$/)
    t.match(dry.out, /^to pay line 2: user 1000, dollars 1\.5, agent dollars 0, points taken 0$/m)
    t.same(await queryRows(database, 'select count(*) from salary_deposits'), [{ count: '0' }])

    // Interrupted between two commands: what was reported as paid is paid, and the next run pays the rest.
    const first = await callCommandLine(main, database.serviceUrl, october, {}, (text, interrupt) => {
      if (text.startsWith('paid ')) interrupt()
    })
    t.match(first, { code: 1, err: 'salary stopped: ended by SIGINT\n' })
    t.equal(first.out.match(/^paid /gm)?.length, 200)
    const second = await run(...october)
    t.match(second.out, /\npaid: 30, already paid: 200, refused: 2\n$/)
    t.match(second.out, /^refused line 232: user 99, dollars 5, .*: There is no such user\.$/m)
    t.match(second.out, /^refused line 233: agent_dollars: The value must be dollars/m)
    t.match(await run(...october), { code: 1, out: /\npaid: 0, already paid: 230, refused: 2\n$/ })
    t.same(
      await queryRows(database, 'select sum(dollars)::text as sum, count(*)::text as count from salary_deposits'),
      [{ sum: '34500', count: '230' }],
    )

    writeFileSync(file, salaryFile('1000,1.5,0', '1001,1.6,0'))
    const changed = await run(...october)
    t.match(changed.out, /refused line 3: user 1001, .*: The user was paid something else for this period\./)
    t.match(changed, { code: 1, out: /\npaid: 0, already paid: 1, refused: 1\n$/ })
    t.match(await run('--period', '2026-11', '--file', file), {
      code: 0,
      out: /paid line 2: user 1000, .*, event \d+\n.*\npaid: 2, already paid: 0, refused: 0\n$/s,
    })
    t.match((await user(1001)('GET', '/v1/wallet')).body, { data: { wallet_dollars_count: 3.1 } })

    t.match(await run('--help'), { code: 0, out: /--dry-run/, err: '' })
    t.match(await run('--period', 'a:b', '--file', file), { code: 1, err: /^error: .*0-9 A-Z/ })
    t.match(await run('--period', 'a', '--file', `${file}.gone`), {
      code: 1,
      err: `salary stopped: --file: there is no file ${file}.gone.\n`,
    })
    writeFileSync(file, 'user,dollars\n')
    t.match(await run('--period', 'a', '--file', file), {
      code: 1,
      err: /^salary stopped: --file .+: its first line must name the columns /,
    })
  })

  await t.test('with approvals a file is one proposal, which an operator approves', async (t) => {
    const file = join(temporaryFolder(t), 'october.csv')
    const run = async (limits: string, period: string, ...more: string[]) => {
      await callCommandLine(setApprovals, database.serviceUrl, ['set', 'on', limits])
      return callCommandLine(main, database.serviceUrl, ['--period', period, '--file', file, ...more])
    }

    writeFileSync(file, salaryFile(...many.map((id) => `${id},1.5,0`)))
    t.match(await run('{}', '2027-10', '--dry-run'), {
      code: 0,
      out: /\nto pay: 230, already paid: 0, refused: 0\n$/,
    })
    const proposed = await run('{"dollars":34499}', '2027-10')
    t.match(proposed, { code: 0, out: /^proposal \d+: .*\nproposed: 230, paid: 0, already paid: 0, refused: 0\n$/ })
    t.same(await queryRows(database, "select count(*) from salary_deposits where period = '2027-10'"), [{ count: '0' }])
    const id = /^proposal (\d+)/.exec(proposed.out)?.[1] ?? ''
    const approved = await decideProposal(operator, Number(id), 'approve')
    t.match(approved, {
      status: 200,
      body: { data: { action: 'salary_file', amounts: [{ currency: 'dollars', amount: 345 }], rows_count: 230 } },
    })
    t.same(await queryRows(database, "select count(*), sum(dollars) from salary_deposits where period = '2027-10'"), [
      { count: '230', sum: '34500' },
    ])
    t.match(await run('{}', '2027-10'), { code: 0, out: /\npaid: 0, already paid: 230, refused: 0\n$/ })

    writeFileSync(file, salaryFile('1000,2,0'))
    t.match(await run('{"dollars":200}', '2027-11'), { code: 0, out: /\npaid: 1, already paid: 0, refused: 0\n$/ })
    writeFileSync(file, salaryFile('1000,3,0', '77777,1,0', '1001,1,0'))
    t.match(await run('{}', '2027-11'), {
      code: 1,
      out: /^proposal \d+: .*\nrefused line 2: user 1000, .*: .+\nrefused line 3: user 77777, .*: .+\nproposed: 1, paid: 0, already paid: 0, refused: 2\n$/,
    })
    writeFileSync(file, salaryFile('1000,2,0', '1001,1,0'))
    t.match(await run('{}', '2027-11'), {
      code: 0,
      out: /\nalready paid line 2: user 1000, .*\nproposed: 1, paid: 0, already paid: 1, refused: 0\n$/,
    })
    writeFileSync(file, salaryFile(...many.slice(0, 10).map((user) => `${user},9999999999999.99,0`)))
    t.match(await run('{}', '2027-12'), { code: 1, err: /beyond 2\^53-1 cents: split the file/ })
    t.match(await callCommandLine(setApprovals, database.serviceUrl, ['set', 'off']), { code: 0 })
  })

  await t.test('salaries through the admin route', async (t) => {
    await operator('POST', '/admin/v1/users/9/credits', { currency: 'target', amount: 500, reason: 'x' })
    const deposits = [
      { user_id: 1, dollars: 10, agent_dollars: '2.50' },
      { user_id: 9, dollars: '0.01', agent_dollars: 0, target: 500 },
      { user_id: 2, dollars: 1, agent_dollars: 0, target: 1 },
    ]
    const paid = await operator('POST', '/admin/v1/salary-deposits', { period: 'w-44', deposits })
    t.equal(paid.status, 201)
    const [first, second] = dataOf(paid).paid
    t.same(dataOf(paid), {
      period: 'w-44',
      paid: [
        { id: first.id, user_id: 1, dollars: 10, agent_dollars: 2.5, target: 0 },
        { id: second.id, user_id: 9, dollars: 0.01, agent_dollars: 0, target: 500 },
      ],
      already_paid: [],
      refused: [
        {
          user_id: 2,
          dollars: 1,
          agent_dollars: 0,
          target: 1,
          code: 'insufficient_balance',
          message: 'The user has fewer points than would be taken.',
        },
      ],
    })
    t.match((await user(9)('GET', '/v1/wallet')).body, { data: { wallet_dollars_count: 0.01, target: 0 } })
    const again = await operator('POST', '/admin/v1/salary-deposits', { period: 'w-44', deposits })
    t.match(dataOf(again), { paid: [], already_paid: [{ id: first.id }, { id: second.id }], refused: [{ user_id: 2 }] })
    const tooMany = Array(1_001).fill(deposits[0])
    for (const wrong of [{ period: 'a b' }, { period: 'x'.repeat(33) }, { deposits: [] }, { deposits: tooMany }]) {
      t.equal((await operator('POST', '/admin/v1/salary-deposits', { period: 'p', deposits, ...wrong })).status, 422)
    }
  })
  t.same((await verifyDatabase(database)).findings, [])
})
