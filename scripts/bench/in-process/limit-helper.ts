import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { isoMicros } from '../../../src/ledger/rules/time.ts'
import { serve } from '../../../test/harness/process/child-process-rpc.ts'
import { BATCH, type Ran, Run } from './job.ts'
import { type PreparedBatch, prepareBatch } from './rows.ts'

// The upper limit: how fast PostgreSQL takes the product's writes over one connection when everything was decided, hashed
// and serialized before. Each batch of 256 gifts is one transaction that locks the head, inserts the events, upserts
// balances and rooms, moves the head and stores the batch id. The next batch is sent while one commits. Batches are used
// again with new positions and unchanged values.

interface Rendered {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

interface RenderedBatch {
  /** Columns of the events, except the position. */
  readonly events: readonly string[]
  readonly saves: readonly Rendered[]
  readonly hash: string
  readonly at: string
}

const PREPARED = 64

/** An array in PostgreSQL's text format. */
const arrayText = (values: readonly unknown[]): string => `{${values.map(elementText).join(',')}}`

function elementText(value: unknown): string {
  if (value === null) return 'NULL'
  if (typeof value !== 'string' && typeof value !== 'number') throw new Error('not a value of a column')
  return `"${String(value).replace(/[\\"]/g, '\\$&')}"`
}

function render({ events, saves }: PreparedBatch): RenderedBatch {
  const leg = (side: 'debit' | 'credit' | 'amount') =>
    events.map(({ movements }) => `{${movements.map((movement) => movement[side]).join(',')}}`)
  const columns: (readonly unknown[])[] = [
    events.map(({ type }) => type),
    events.map(({ version }) => version),
    events.map(({ data }) => data),
    leg('debit'),
    leg('credit'),
    leg('amount'),
    events.map(({ actor }) => actor),
    events.map(({ at }) => isoMicros(at)),
    events.map(({ requestId }) => requestId),
    events.map(({ idempotencyKey }) => idempotencyKey),
    events.map(({ replyHash }) => replyHash),
    events.map(({ hash }) => hash),
  ]
  return {
    events: columns.map(arrayText),
    saves: saves.map(({ name, text, values }) => ({
      name,
      text,
      values: values.map((value) => (Array.isArray(value) ? arrayText(value) : value)),
    })),
    hash: events.at(-1)?.hash ?? '',
    at: isoMicros(events.at(-1)?.at ?? 0),
  }
}

const insertEvents = `
  insert into ledger_events
    (position, type, version, data, debit, credit, amount, actor, at, request_id, idempotency_key, reply_hash, hash)
  select position, type, version, data, debit::text[], credit::text[], amount::bigint[], actor, at, request_id,
         idempotency_key, reply_hash, hash
  from unnest($1::bigint[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
              $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::text[])
    as e (position, type, version, data, debit, credit, amount, actor, at, request_id, idempotency_key, reply_hash, hash)`
const close = `
  with moved as (update ledger_head set position = $2::bigint, hash = $3::text, at = $4::timestamptz)
  insert into ledger_batches (id, position) values ($1::uuid, $2::bigint)`

const client = new Client({
  connectionString: process.env['DATABASE_URL'],
  pipeline: true,
  // The planner settings of the product's writer.
  options:
    '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off',
})
await client.connect()
const batches = Array.from({ length: PREPARED }, () => render(prepareBatch(Date.now() * 1000)))

let position = Number((await client.query('select position from ledger_head')).rows[0]?.position)

/** Sends a whole transaction; resolves when it is committed. */
async function write(batch: RenderedBatch): Promise<void> {
  const first = position + 1
  position += BATCH
  const positions = arrayText(Array.from({ length: BATCH }, (_, i) => first + i))
  const answers = [
    client.query('begin'),
    client.query({ name: 'lock head', text: 'select position from ledger_head for update' }),
    client.query({ name: 'insert events', text: insertEvents, values: [positions, ...batch.events] }),
    ...batch.saves.map(({ name, text, values }) => client.query({ name, text, values: [...values] })),
    client.query({ name: 'close', text: close, values: [randomUUID(), position, batch.hash, batch.at] }),
    client.query('commit'),
  ]
  const committed = (await Promise.all(answers)).at(-1)
  if (committed?.command !== 'COMMIT') throw new Error('a batch was not committed')
}

async function run({ seconds }: Run): Promise<Ran> {
  const from = performance.now()
  const until = from + seconds * 1000
  let written = 0
  const writer = async (offset: number): Promise<void> => {
    for (let i = offset; performance.now() < until; i += 2) {
      const batch = batches[i % PREPARED]
      if (batch !== undefined) await write(batch)
      written += 1
    }
  }
  // Two loops share the connection, so that one batch is sent while the other commits.
  await Promise.all([writer(0), writer(1)])
  return { commands: written * BATCH, seconds: (performance.now() - from) / 1000 }
}

serve(Run, run)
