import type { CheckpointHead } from '../../src/audit/checkpoint.ts'
import { rebuild } from '../../src/audit/rebuild/rebuild.ts'
import { type Verification, verify } from '../../src/audit/verify/verify.ts'
import { GENESIS_HASH, hashEvent } from '../../src/ledger/storage/event-hash.ts'
import { eventColumns, parseEntry } from '../../src/ledger/storage/stored-event.ts'
import { queryRows, testPiiKey } from '../harness/ledger/test-executor.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'

/** Verifies a database as the service's own role. */
export const verifyDatabase = (
  { serviceUrl }: TestDatabase,
  asOf: number | null = null,
  checkpoint: CheckpointHead | null = null,
  sealsFolder?: string,
): Promise<Verification> => {
  const { signal } = new AbortController()
  return verify(serviceUrl, {
    asOf,
    checkpoint,
    piiKey: testPiiKey,
    progress: () => {},
    signal,
    ...(sealsFolder !== undefined && { sealsFolder }),
  })
}

/** The events in words, so that tests change what they show: whatever changes is packed again. */
const SHOWN_EVENTS = `
  create or replace function packed_account(account text) returns text language sql as $$
    select case
      when account is null then 'NULL'
      when split_part(account, ':', 3) in ('coins', 'diamonds', 'target', 'dollars', 'agent_dollars')
      then left(account, 1) || split_part(account, ':', 2)
           || case split_part(account, ':', 3) when 'dollars' then '$' else left(split_part(account, ':', 3), 1) end
      else account
    end
  $$;
  create or replace view shown_events as
    select l.position, l.type, l.version, l.data, m.debit, m.credit, m.amount, l.actor, l.at, l.request_id, l.idempotency_key,
           l.reply_hash, l.hash
    from ledger l, lateral (
      select coalesce(array_agg(debit order by leg), '{}') as debit, coalesce(array_agg(credit order by leg), '{}') as credit,
             coalesce(array_agg(amount order by leg), '{}') as amount
      from ledger_movements where position = l.position
    ) m;
  create or replace function pack_shown_event() returns trigger language plpgsql as $$
  declare
    names text[] := (select fields from event_types where type = new.type and version = new.version);
    packed_data text;
    legs text := '';
  begin
    begin
      select '[' || coalesce(string_agg(value::text, ',' order by place), '') || ']' into packed_data
      from json_each(new.data::json) with ordinality as named (name, value, place)
      having coalesce(bool_and(name = names[place]), names is not null);
    exception when invalid_text_representation then null;
    end;
    for i in 1 .. coalesce(array_length(new.debit, 1), 0) loop
      legs := legs || case when i > 1 and new.debit[i] = new.debit[i - 1] then ','
                           else case when i > 1 then ';' else '' end || packed_account(new.debit[i]) || '>' end
                   || packed_account(new.credit[i]) || ' ' || coalesce(new.amount[i]::text, 'NULL');
    end loop;
    update ledger_events set
      position = new.position, type = new.type, version = new.version, actor = new.actor, at = new.at,
      data = case when new.data is not null then coalesce(packed_data, new.data) end,
      movements = legs,
      request_id = case when new.request_id = old.request_id then request_id else convert_to(new.request_id, 'UTF8') end,
      idempotency_key = case when new.idempotency_key is not distinct from old.idempotency_key then idempotency_key
                        else convert_to(new.idempotency_key, 'UTF8') end,
      reply_hash = decode(new.reply_hash, 'hex'), hash = decode(new.hash, 'hex')
    where position = old.position;
    return new;
  end
  $$;
  create or replace trigger pack instead of update on shown_events for each row execute function pack_shown_event()`

/** Runs SQL as the owner of the database, with the ledger's guards off. */
export async function tamper(database: TestDatabase, ...statements: readonly string[]): Promise<void> {
  const all = [SHOWN_EVENTS, 'alter table ledger_events disable trigger user', ...statements]
  await queryRows(database, [...all, 'alter table ledger_events enable trigger user'].join('; '))
}

/**
 * What a forger who knows the chain would do: recomputes all hashes from the changed events, the head's too. The head gets
 * another batch, so that an executor that remembers the head reads it again.
 */
export async function rechain(database: TestDatabase): Promise<void> {
  const rows = await queryRows(database, `select ${eventColumns} from ledger_events e order by e.position`)
  let hash = GENESIS_HASH
  const updates = rows.map((row) => {
    const entry = parseEntry(row)
    hash = hashEvent(entry, hash)
    return `update ledger_events set hash = '\\x${hash}' where position = ${entry.position}`
  })
  await tamper(database, ...updates, `update ledger_head set hash = '${hash}', batch = gen_random_uuid()`)
}

/** Changes the event at a position. */
export const changed = (position: number, change: string): string =>
  `update shown_events set ${change} where position = ${position}`

/** Inserts a copy of an event at another position. */
export const copied = (position: number, from: number): string => `insert into ledger_events
  select ${position}, at, version, type, actor, request_id, idempotency_key, movements, data, reply_hash, hash
  from ledger_events where position = ${from}`

/** Keeps the rows of these tables, and answers what puts them back: faster than a database for each change. */
export async function keepRows(database: TestDatabase, ...tables: readonly string[]): Promise<() => Promise<void>> {
  await tamper(database, ...tables.map((table) => `create table kept_${table} as table ${table}`))
  return () =>
    tamper(database, ...tables.flatMap((table) => [`delete from ${table}`, `insert into ${table} table kept_${table}`]))
}

/** Rebuilds all tables that are derived from the ledger. */
export const rebuildTables = ({ ownerUrl }: TestDatabase) =>
  rebuild(ownerUrl, { progress: () => {}, signal: new AbortController().signal })
