import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { csvText } from '../../src/audit/format.ts'
import { readEntries } from '../../src/audit/reports/write-export.ts'
import { checkDraws } from '../../src/audit/verify/draws/check-draws.ts'
import { queryRows } from '../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'
import { runAudit } from './run-audit.ts'
import { seededLedger } from './seed-ledger.ts'

const balancesOf = async (database: TestDatabase) =>
  new Map(
    (await queryRows(database, 'select account, balance from balances where balance <> 0')).map((row) => [
      row['account'],
      Number(row['balance']),
    ]),
  )

test('the JSON export has every event, with all that its hash covers', async (t) => {
  const database = await seededLedger()
  const env = { DATABASE_URL: database.serviceUrl }
  const { code, out } = await runAudit(env, 'export', '--format', 'jsonl')
  t.equal(code, 0)
  let hash = '0'.repeat(64)
  const hashes = out
    .trim()
    .split('\n')
    .map((line) => {
      const event = JSON.parse(line)
      // As any language would: the text of the data as it is in the line.
      const data = line.slice(line.indexOf('"data":') + 7, line.lastIndexOf(',"hash":'))
      let legs = ''
      for (const { debit, credit, amount } of event.movements) legs += `${debit} ${credit} ${amount};`
      const { position, type, version, at, actor, request_id, idempotency_key, reply_hash } = event
      const lines = [
        hash,
        position,
        type,
        version,
        at,
        actor,
        request_id,
        idempotency_key ?? '',
        reply_hash ?? '',
        legs,
        data,
      ]
      hash = createHash('sha256').update(lines.join('\n')).digest('hex')
      t.equal(event.hash, hash, `position ${position}`)
      return hash
    })
  const [head] = await queryRows(database, 'select position, hash from ledger_head')
  t.same([String(hashes.length), hashes.at(-1)], [head?.['position'], head?.['hash']])
  const part = await runAudit(env, 'export', '--format', 'jsonl', '--from', '5', '--to', '7')
  t.same(part.out, `${out.split('\n').slice(4, 7).join('\n')}\n`)
})

test('the CSV export has every posting: they sum to zero, and those of an account to its balance', async (t) => {
  const database = await seededLedger()
  const { out, err } = await runAudit({ DATABASE_URL: database.serviceUrl }, 'export', '--format', 'csv')
  t.match(err, /^export --format csv\npositions 1 to 22, \S+Z to \S+Z\n$/)
  const [header = '', ...lines] = out.trim().split('\n')
  const columns = header.split(',')
  const sums = new Map<string, number>()
  const held = new Map<string, number>()
  for (const line of lines) {
    const cells = line.split(',')
    const cell = (name: string): string => cells[columns.indexOf(name)] ?? ''
    t.match(cell('amount'), cell('currency').endsWith('dollars') ? /^-?\d+\.\d\d$/ : /^-?\d+$/)
    const amount = Math.round(Number(cell('amount')) * (cell('currency').endsWith('dollars') ? 100 : 1))
    sums.set(cell('currency'), (sums.get(cell('currency')) ?? 0) + amount)
    held.set(cell('account'), (held.get(cell('account')) ?? 0) + amount)
  }
  t.same(
    [...sums.values()],
    [...sums.values()].map(() => 0),
  )
  t.ok(sums.size >= 3)
  t.same(new Map([...held].filter(([, balance]) => balance !== 0)), await balancesOf(database))
})

test('a text in CSV never begins a formula', async (t) => {
  const cells = ['=1+1', '＝1', '+1', '-1', '@sum', '\tx', 'a "b", c', 'staff:ann'].map(csvText)
  t.same(cells, ["'=1+1", "'＝1", "'+1", "'-1", "'@sum", `"'\tx"`, '"a ""b"", c"', 'staff:ann'])
  // Where `;` or a tab separates cells, or quotes do not hold a line break.
  const inner = ['Ann;=cmd()', 'Ann\t＠sum', 'a\r\n-1', 'a;b', 'a;"=1', 'a; -1', 'a-1'].map(csvText)
  t.same(inner, [`"Ann;'=cmd()"`, `"Ann\t'＠sum"`, `"a\r\n'-1"`, '"a;b"', `"a;'""=1"`, '"a; -1"', 'a-1'])
})

/** Reads a journal and checks all its assertions; returns the balances at its end. */
function readJournal(text: string): Map<string, number> {
  const declared = new Set<string>()
  const held = new Map<string, number>()
  const units = (amount: string): number => Math.round(Number(amount) * (amount.includes('.') ? 100 : 1))
  let sums = new Map<string, number>()
  let day = ''
  const end = (): void => {
    for (const sum of sums.values()) if (sum !== 0) throw new Error('a transaction does not sum to zero')
    sums = new Map()
  }
  for (const line of text.split('\n')) {
    const posting = /^ {4}(\S+) {2}(-?[\d.]+) ("?)([a-z_]+)\3(?: = (-?[\d.]+) \3\4\3)?$/.exec(line)
    const [, account = '', amount = '', , currency = '', assertion] = posting ?? []
    if (posting !== null) {
      if (!declared.has(account) || !declared.has(currency)) throw new Error(`not declared: ${line}`)
      sums.set(currency, (sums.get(currency) ?? 0) + units(amount))
      held.set(account, (held.get(account) ?? 0) + units(amount))
      if (assertion !== undefined && units(assertion) !== held.get(account)) throw new Error(`wrong: ${line}`)
      continue
    }
    end()
    const [, what, name = ''] = /^(account|commodity) "?([^"]+)"?$/.exec(line) ?? []
    if (what !== undefined) declared.add(name)
    else if (/^\d{4}-\d\d-\d\d \(\d+\) [a-z -]+( \| [\d:.]+Z)?$/.test(line)) {
      if (line.slice(0, 10) < day) throw new Error('times go back')
      day = line.slice(0, 10)
    } else if (line !== '' && !line.trimStart().startsWith('; ')) throw new Error(`not understood: ${line}`)
  }
  return new Map([...held].filter(([, balance]) => balance !== 0))
}

test('journals balance, assert and declare; each file begins with the opening balances', async (t) => {
  const database = await seededLedger()
  const env = { DATABASE_URL: database.serviceUrl }
  const balances = await balancesOf(database)
  const whole = await runAudit(env, 'export', '--format', 'hledger')
  t.match(whole.out, /^; export --format hledger\n; positions 1 to 22, \S+Z to \S+Z\ncommodity /)
  t.same(readJournal(whole.out), balances)
  t.match(whole.out, / {4}user:2:dollars {2}12\.99 dollars = 12\.99 dollars\n/)
  t.same(readJournal((await runAudit(env, 'export', '--format', 'hledger', '--from', '15')).out), balances)
  t.throws(() => readJournal(whole.out.replace(' 12.99 dollars =', ' 12.98 dollars =')))
  const folder = t.testdir()
  const flags = ['export', '--format', 'hledger', '--folder', folder, '--transactions', '3']
  const parts = await runAudit(env, ...flags)
  const files = readdirSync(folder).sort()
  t.same(parts.out, files.map((file) => `${join(folder, file)}\n`).join(''))
  t.ok(files.length >= 3)
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8')
    t.match(text, /^; export --format hledger --folder .+ --transactions 3\n; positions 1 to 22, /)
    const read = readJournal(text)
    if (file === files.at(-1)) t.same(read, balances)
  }
  t.match(await runAudit(env, ...flags), { code: 2, err: /EEXIST/ }, 'no file is overwritten')
  const later = await runAudit(env, 'export', '--format', 'hledger', '--from', '15', '--no-opening')
  const earlier = await runAudit(env, 'export', '--format', 'hledger', '--to', '14')
  t.same(readJournal(earlier.out + later.out), balances, 'read one after the other')
  t.throws(() => readJournal(later.out), /wrong/)
  t.match(await runAudit(env, 'export', '--format', 'csv', '--no-opening'), { code: 2, err: /needs --format hledger/ })
})

test('the check of draws compares them with the odds and reports those that do not follow', async (t) => {
  const database = await seededLedger()
  const { code, out } = await runAudit({ DATABASE_URL: database.serviceUrl }, 'draws', '--json')
  t.equal(code, 0)
  t.match(JSON.parse(out), {
    events: 22,
    faults: [],
    findings: [],
    observations: [],
    lucky: [{ decoration_id: 2, draws: 5 }],
    unannounced: 2,
  })
  const reading = { signal: new AbortController().signal, onPlanned: () => {}, onScanned: () => {} }
  const forged = async function* () {
    for await (const page of readEntries(database.serviceUrl, { first: 1, last: 22 }, reading)) {
      yield page.map((entry) => ({ ...entry, data: entry.data.replace(/"r":\d+/, '"r":0') }))
    }
  }
  const { faults } = await checkDraws(forged())
  t.match(faults[0], { position: Number, message: /^order 0 drew \d/ })
})
