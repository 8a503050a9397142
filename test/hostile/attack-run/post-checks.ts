import { formatFinding } from '../../../src/audit/finding.ts'
import { verify } from '../../../src/audit/verify/verify.ts'
import { connect } from '../../../src/db/connect.ts'
import { HttpConnection } from '../../harness/http/http-connection.ts'
import { jsonRequest } from '../../harness/http/request.ts'
import { percentile } from '../../harness/load/percentiles.ts'
import { SECRET_CANARY, UNKNOWN_CANARY } from './canaries.ts'
import { leakIn, type Secrets } from './judge.ts'
import type { PeriodicReads } from './periodic-reads.ts'
import { tokenOf } from './roles.ts'
import type { Target } from './target.ts'

/** Afterwards so many requests, one after the other, half of which must be answered within this. */
const LOOKS = 300
const QUICK_MS = 25

/** What the service looks like when they are gone. */
export async function runPostChecks(target: Target, periodic: PeriodicReads): Promise<void> {
  await checkLatency(target)
  await checkLedger(target)
  await periodic.audit()
  await periodic.run('rebuild')
  await periodic.run('verify')
  const connection = new HttpConnection(target.attackRun.port)
  await periodic.readLists(connection)
  await connection.close()
  await checkTables(target)
  checkLogs(target)
}

async function checkLatency({ attackRun }: Target): Promise<void> {
  const connection = new HttpConnection(attackRun.port)
  const times: number[] = []
  for (let i = 0; i < LOOKS; i += 1) {
    const started = performance.now()
    await attackRun.send(connection, jsonRequest('GET', '/healthz', tokenOf('user') ?? ''), 'afterwards')
    times.push(performance.now() - started)
  }
  await connection.close()
  const sorted = times.toSorted((a, b) => a - b)
  const [p50, p99] = [percentile(sorted, 50), percentile(sorted, 99)]
  attackRun.context.expect(
    p50 <= attackRun.context.limit(QUICK_MS),
    `afterwards half of the answers took more than ${p50.toFixed(0)} ms`,
  )
  attackRun.context.report(`afterwards p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
}

/** Every event follows from a request whose answer said so, and no user's request took anything from another user. */
async function checkLedger({ attackRun, databaseUrl }: Target): Promise<void> {
  const { context, done, idle } = attackRun
  const client = await connect(databaseUrl, 'hostile books')
  let events = ''
  try {
    const { rows } = await client.query<{
      position: string
      type: string
      actor: string
      request_id: string
      debit: string[]
      target: string | null
    }>(`select position, type, actor, request_id, debit, data::json->>'target_id' as target
        from ledger_events where actor <> 'system' order by position`)
    events = `${rows.length} events of ${new Set(rows.map(({ type }) => type)).size} types`
    for (const { position, type, actor, request_id, debit, target } of rows) {
      context.expect(done.has(request_id), `position ${position} of ${actor} was answered to nobody with 2xx`)
      context.expect(
        !idle.has(request_id),
        `position ${position} of ${actor} comes from a request whose answer said that it did nothing`,
      )
      context.expect(actor !== 'staff:fin', `position ${position} was written by somebody who may only read`)
      if (!actor.startsWith('user:')) continue
      // An agent or manager takes what the other has asked them to take.
      if (type === 'withdrawal-status-changed' && actor === `user:${target}`) continue
      const robbed = debit.find((account) => account.startsWith('user:') && !account.startsWith(`${actor}:`))
      context.expect(robbed === undefined, `position ${position}: ${actor} took from ${robbed}`)
    }
  } finally {
    await client.end()
  }
  const found = await verify(databaseUrl, { asOf: null, checkpoint: null, progress: () => {}, signal: context.signal })
  for (const finding of found.findings) context.expect(false, `verify: ${formatFinding(finding)}`)
  context.report(`${events}, all answered for; verified up to position ${found.position}`)
}

/** Neither values of unknown fields nor, in clear, confidential texts are anywhere in the database. */
async function checkTables({ attackRun, databaseUrl }: Target): Promise<void> {
  const client = await connect(databaseUrl, 'hostile tables')
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')
         and has_table_privilege(format('%I.%I', schemaname, tablename), 'select')`,
    )
    for (const { name } of tables) {
      for (const canary of [UNKNOWN_CANARY, SECRET_CANARY]) {
        const { rows } = await client.query<{ row: string }>(
          `select left(t::text, 1000) as row from ${name} t where strpos(t::text, $1) > 0 limit 1`,
          [canary],
        )
        attackRun.context.expect(rows.length === 0, `${name} keeps ${canary}: ${rows[0]?.row}`)
      }
    }
    attackRun.context.report(`${tables.length} tables hold no value of an unknown field and no confidential text`)
  } finally {
    await client.end()
  }
}

const inLogs = (secrets: Secrets): Secrets =>
  new Map([...secrets, ['an unknown field', UNKNOWN_CANARY], ['confidential text', SECRET_CANARY]])

function checkLogs({ attackRun }: Target): void {
  const secrets = inLogs(attackRun.secrets)
  let lines = 0
  for (const [name, text] of attackRun.context.logs()) {
    for (const connection of text.split('\n')) {
      lines += 1
      const leak = leakIn(connection, secrets)
      attackRun.context.expect(leak === null, `${name} printed ${leak}: ${connection.slice(0, 500)}`)
      attackRun.context.expect(
        !/^\{"level":[56]0/.test(connection),
        `${name} printed a failure: ${connection.slice(0, 1_000)}`,
      )
    }
  }
  attackRun.context.report(`${lines} lines of log`)
}
