import {
  boolean,
  type Column,
  type ColumnKind,
  type Columns,
  column,
  integer,
  micros,
  nullable,
  text,
} from '../ledger/rules/projection.ts'

const smallint = () => column<'integer', number>('integer', 'smallint')
const int = () => column<'integer', number>('integer', 'integer')
const uuid = () => column<'text', string>('text', 'uuid')
const texts = () => column<'texts', string[]>('texts', 'text[]')
const bytes = () => column<'bytes', Buffer>('bytes', 'bytea')

/** The columns of tables that are no projections: the rules see none of their rows. */
export const plainTables = {
  ledger_events: {
    position: integer(),
    type: text(),
    version: smallint(),
    data: text(),
    movements: text(),
    actor: text(),
    at: micros(),
    request_id: bytes(),
    idempotency_key: nullable(bytes()),
    reply_hash: nullable(bytes()),
    hash: bytes(),
  },
  ledger: {
    position: integer(),
    type: text(),
    version: smallint(),
    data: text(),
    movements: text(),
    actor: text(),
    at: micros(),
    request_id: text(),
    idempotency_key: nullable(text()),
    reply_hash: nullable(text()),
    hash: text(),
  },
  ledger_head: { one: boolean(), position: integer(), hash: text(), at: micros(), batch: uuid() },
  ledger_home: { one: integer(), system_identifier: text(), timeline: integer() },
  ledger_batches: { id: uuid(), position: integer(), at: micros() },
  ledger_cursors: { name: text(), position: integer() },
  ledger_index_segments: { level: smallint(), base: integer(), state: text() },
  ledger_index: { level: smallint(), base: integer(), term: bytes(), first: integer(), data: bytes() },
  event_types: { type: text(), version: smallint(), fields: texts() },
  ledger_writer: {
    only_row: boolean(),
    writer: text(),
    address: nullable(text()),
    pid: integer(),
    session_start: micros(),
    elected_at: micros(),
  },
  replies: {
    key: uuid(),
    request_hash: uuid(),
    at: micros(),
    status: smallint(),
    body: text(),
  },
  key_fingerprints: { name: text(), fingerprint: text() },
  migration_checksums: { name: text(), sha256: text() },
  push_outbox: {
    token: text(),
    position: integer(),
    user_id: integer(),
    notification: text(),
    attempts: int(),
    next_attempt: micros(),
    made_at: micros(),
  },
  told_clients: { token_key: text(), type: nullable(text()), version: nullable(text()), told_at: micros() },
  instances: {
    id: uuid(),
    host: text(),
    pid: integer(),
    version: text(),
    reads: text(),
    queue: integer(),
    lag: integer(),
    sockets: integer(),
    role: text(),
    started_at: micros(),
    seen_at: micros(),
  },
  ended_console_sessions: { id: text(), ended_at: micros() },
  live_announcements: { channel: text(), position: integer(), prev: nullable(integer()), at: micros() },
  live_channels: { channel: text(), last: integer() },
  jobs: {
    job_id: integer(),
    kind: text(),
    subject: text(),
    exclusive: nullable(text()),
    started_by: text(),
    idempotency_key: nullable(text()),
    started_at: micros(),
    heartbeat_at: micros(),
    ended_at: nullable(micros()),
    state: text(),
    stopped_by: nullable(text()),
    events_read: integer(),
    events_total: integer(),
    input: text(),
    summary: nullable(text()),
    result: nullable(text()),
  },
  made_checkpoints: {
    checkpoint_id: integer(),
    made_by: text(),
    at: micros(),
    position: integer(),
    hash: text(),
    idempotency_key: nullable(text()),
  },
  closing_steps: {
    month: text(),
    step: text(),
    job_id: integer(),
    started_at: micros(),
    ended_at: nullable(micros()),
    first_position: integer(),
    last_position: integer(),
    kept_in: text(),
    folder_id: text(),
    passed: boolean(),
    result: nullable(text()),
    files: text(),
    findings: text(),
    has_more_findings: boolean(),
    error: nullable(text()),
  },
}

/**
 * What queries read of a column: whole numbers (bigint) arrive as numbers and must be safe, `numeric`, JSON and times as
 * text; see `pool.ts`.
 */
interface Selected {
  integer: number
  exact: string
  text: string
  boolean: boolean
  micros: string
  json: string
  texts: string[]
  bytes: Buffer
}

type SelectedRow<Of extends Columns> = { [Name in keyof Of]: SelectedValue<Of[Name]> }

type SelectedValue<Of> =
  Of extends Column<infer Kind extends ColumnKind, infer Value> ? Selected[Kind] | Extract<Value, null> : never

/** The tables of projections, for `Tables`. */
export type TablesOf<
  Of extends readonly { readonly projection: { readonly name: string; readonly columns: Columns } }[],
> = {
  [Table in Of[number] as Table['projection']['name']]: SelectedRow<Table['projection']['columns']>
}

type PlainTables = { [Name in keyof typeof plainTables]: SelectedRow<(typeof plainTables)[Name]> }

/** The tables as queries see them. Modules with projections add theirs by declaration merging. */
export interface Tables extends PlainTables {}
