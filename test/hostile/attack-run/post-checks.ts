import { describe } from '../../../src/audit/finding.ts'
import { verify } from '../../../src/audit/verify/verify.ts'
import { connect } from '../../../src/db/connect.ts'
import { Line } from '../../harness/http/http-connection.ts'
import { plain } from '../../harness/http/request.ts'
import { percentile } from '../../harness/load/percentiles.ts'
import { SECRET_CANARY, UNKNOWN_CANARY } from './canaries.ts'
import { leakIn, type Secrets } from './judge.ts'
import type { PeriodicReads } from './periodic-reads.ts'
import { tokenOf } from './roles.ts'
import type { Besieged } from './target.ts'

/** Afterwards so many requests, one after the other, half of which must be answered within this. */
const LOOKS = 300
const QUICK_MS = 25

/** What the service looks like when they are gone. */
export async function aftermath(besieged: Besieged, periodic: PeriodicReads): Promise<void> {
  await stillQuick(besieged)
  await booksExplainAll(besieged)
  await periodic.audit()
  await periodic.run('rebuild')
  await periodic.run('verify')
  const line = new Line(besieged.siege.port)
  await periodic.readLists(line)
  await line.close()
  await nothingKept(besieged)
  logTellsNothing(besieged)
}

async function stillQuick({ siege }: Besieged): Promise<void> {
  const line = new Line(siege.port)
  const times: number[] = []
  for (let i = 0; i < LOOKS; i += 1) {
    const started = performance.now()
    await siege.ask(line, plain('GET', '/healthz', tokenOf('user') ?? ''), 'afterwards')
    times.push(performance.now() - started)
  }
  await line.close()
  const sorted = times.toSorted((a, b) => a - b)
  const [p50, p99] = [percentile(sorted, 50), percentile(sorted, 99)]
  siege.stage.expect(
    p50 <= siege.stage.limit(QUICK_MS),
    `afterwards half of the answers took more than ${p50.toFixed(0)} ms`,
  )
  siege.stage.tell(`afterwards p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
}

/** Every event was asked for by somebody who was told so, and no user's asking took anything from another user. */
async function booksExplainAll({ siege, databaseUrl }: Besieged): Promise<void> {
  const { stage, done, idle } = siege
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
      stage.expect(done.has(request_id), `position ${position} of ${actor} was answered to nobody with 2xx`)
      stage.expect(!idle.has(request_id), `position ${position} of ${actor} comes from what was said to do nothing`)
      stage.expect(actor !== 'staff:fin', `position ${position} was written by somebody who may only read`)
      if (!actor.startsWith('user:')) continue
      // An agent or manager takes what the other has asked them to take.
      if (type === 'withdrawal-status-changed' && actor === `user:${target}`) continue
      const robbed = debit.find((account) => account.startsWith('user:') && !account.startsWith(`${actor}:`))
      stage.expect(robbed === undefined, `position ${position}: ${actor} took from ${robbed}`)
    }
  } finally {
    await client.end()
  }
  const found = await verify(databaseUrl, { asOf: null, checkpoint: null, progress: () => {}, signal: stage.signal })
  for (const finding of found.findings) stage.expect(false, `verify: ${describe(finding)}`)
  stage.tell(`${events}, all answered for; verified up to position ${found.position}`)
}

/** Neither what stood in unknown fields nor, in clear, what was said in confidence is anywhere in the database. */
async function nothingKept({ siege, databaseUrl }: Besieged): Promise<void> {
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
        siege.stage.expect(rows.length === 0, `${name} keeps ${canary}: ${rows[0]?.row}`)
      }
    }
    siege.stage.tell(`${tables.length} tables hold nothing that stood in unknown fields or was said in confidence`)
  } finally {
    await client.end()
  }
}

const inLogs = (secrets: Secrets): Secrets =>
  new Map([...secrets, ['an unknown field', UNKNOWN_CANARY], ['what was said in confidence', SECRET_CANARY]])

function logTellsNothing({ siege }: Besieged): void {
  const secrets = inLogs(siege.secrets)
  let lines = 0
  for (const [name, text] of siege.stage.logs()) {
    for (const line of text.split('\n')) {
      lines += 1
      const leak = leakIn(line, secrets)
      siege.stage.expect(leak === null, `${name} printed ${leak}: ${line.slice(0, 500)}`)
      siege.stage.expect(!/^\{"level":[56]0/.test(line), `${name} printed a failure: ${line.slice(0, 1_000)}`)
    }
  }
  siege.stage.tell(`${lines} lines of log`)
}
