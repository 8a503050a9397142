import { bytesOf, jsonRequest } from '../harness/http/request.ts'
import { LoadGenerator } from '../harness/load/load-generator.ts'
import { queryOnce } from '../harness/postgres/query-once.ts'
import { verifyLedger } from '../soak/books/reconcile.ts'
import type { AttackRun } from './attack-run.ts'
import { SECRET_CANARY, UNKNOWN_CANARY } from './hostile-values.ts'
import { leakIn, type Secrets } from './judge.ts'
import { readLists, runAudits } from './reads.ts'
import type { Target } from './target.ts'

/** So many requests, one after the other, half of which must be answered within this. */
const PROBES = 300
const QUICK_MS = 25

interface Attacked extends Target {
  readonly attackRun: AttackRun
}

/** The state of the service after the attack. */
export async function runPostChecks(target: Attacked): Promise<void> {
  await checkLatency(target)
  await checkLedger(target)
  await runAudits(target.attackRun.context, target.dataDir)
  await readLists(target.attackRun)
  await checkTables(target)
  checkLogs(target)
}

async function checkLatency({ attackRun: { context, port } }: Attacked): Promise<void> {
  const probe = bytesOf(jsonRequest('GET', '/healthz', ''))
  const target = { ports: [port], connections: 1 }
  const { p50, p99 } = await LoadGenerator.run(target, (generator) => generator.send(PROBES, () => probe))
  context.expect(p50 <= context.limit(QUICK_MS), `afterwards half of the answers took more than ${p50.toFixed(0)} ms`)
  context.report(`afterwards p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
}

/** Every event follows from a request whose answer said so, and no user's request took anything from another user. */
async function checkLedger({ attackRun, databaseUrl }: Attacked): Promise<void> {
  const { context, done, idle } = attackRun
  const rows = await queryOnce<{
    position: string
    type: string
    actor: string
    request_id: string
    debit: string[]
    target: string | null
    is_packed: boolean
  }>(
    databaseUrl,
    `select position, type, actor, l.request_id, l.data::json->>'target_id' as target, e.data like '[%' as is_packed,
            array(select debit from ledger_movements m where m.position = e.position) as debit
     from ledger l join ledger_events e using (position, type, actor) where actor <> 'system' order by position`,
  )
  for (const { position, type, actor, request_id, debit, target, is_packed } of rows) {
    const event = `position ${position} of ${actor}`
    context.expect(is_packed, `${event} has the data of ${type} in another order than its schema`)
    context.expect(done.has(request_id), `${event} was answered to nobody with 2xx`)
    context.expect(!idle.has(request_id), `${event} comes from a request whose answer said that it did nothing`)
    context.expect(actor !== 'staff:fin', `${event} was written by somebody who may only read`)
    if (!actor.startsWith('user:')) continue
    // An agent or manager takes what the requester has asked them to take.
    if (type === 'withdrawal-status-changed' && actor === `user:${target}`) continue
    const robbed = debit.find((account) => account.startsWith('user:') && !account.startsWith(`${actor}:`))
    context.expect(robbed === undefined, `${event} took from ${robbed}`)
  }
  const events = `${rows.length} events of ${new Set(rows.map(({ type }) => type)).size} types`
  context.report(`${events}, all answered for; ${await verifyLedger(context, databaseUrl)}`)
}

/** Neither values of unknown fields nor, in clear, confidential texts are anywhere in the database. */
async function checkTables({ attackRun: { context }, databaseUrl }: Attacked): Promise<void> {
  const tables = await queryOnce<{ name: string }>(
    databaseUrl,
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')
       and has_table_privilege(format('%I.%I', schemaname, tablename), 'select')`,
  )
  for (const { name } of tables) {
    for (const canary of [UNKNOWN_CANARY, SECRET_CANARY]) {
      const text = `select left(t::text, 1000) as row from ${name} t where strpos(t::text, $1) > 0 limit 1`
      const [found] = await queryOnce<{ row: string }>(databaseUrl, text, [canary])
      context.expect(found === undefined, `${name} keeps ${canary}: ${found?.row}`)
    }
  }
  context.report(`${tables.length} tables hold no value of an unknown field and no confidential text`)
}

function checkLogs({ attackRun: { context, secrets } }: Attacked): void {
  const hidden: Secrets = new Map([
    ...secrets,
    ['an unknown field', UNKNOWN_CANARY],
    ['confidential text', SECRET_CANARY],
  ])
  let lines = 0
  for (const [name, text] of context.logs()) {
    for (const line of text.split('\n')) {
      lines += 1
      const leak = leakIn(line, hidden)
      context.expect(leak === null, `${name} printed ${leak}: ${line.slice(0, 500)}`)
      context.expect(!/^\{"level":[56]0/.test(line), `${name} printed a failure: ${line.slice(0, 1_000)}`)
    }
  }
  context.report(`${lines} lines of log`)
}
