create table ledger_events (
  position        bigint primary key check (position > 0),
  at              timestamptz not null,
  version         smallint not null,
  type            text not null,
  actor           text not null,
  -- A UUID as its 16 bytes, any other text as it is; before another text of 16 bytes stands a zero.
  request_id      bytea not null,
  idempotency_key bytea,
  -- Accounts and amounts in the smallest unit of the currency: u7d>hgiftsd 100;igiftst>u9t 100,r3t 3
  movements       text not null,
  -- A JSON list of the values that event_types names; a JSON object where an event has others. Kept to the letter, because
  -- its bytes are hashed.
  data            text not null,
  reply_hash      bytea,
  -- SHA-256 of all of the above and the hash of the event before, in the form that sql/audit/chain.sql has.
  hash            bytea not null
) partition by range (position);
comment on table ledger_events is
  'The ledger: what happened, in one order without gaps. Tables "from the ledger" follow from these events alone. '
  'The view "ledger" shows it in words.';

create table event_types (
  type    text not null,
  version smallint not null,
  -- The names of the values in its data.
  fields  text[] not null,
  primary key (type, version)
);
comment on table event_types is
  'The types and versions of all events, written with the first one: an instance that does not know one of them does not start.';

-- The service lacks the rights for it; this keeps the owner from rewriting history by accident.
create function refuse_to_rewrite_history() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end
$$;

create trigger append_only before update or delete on ledger_events
  for each row execute function refuse_to_rewrite_history();
create trigger never_truncated before truncate on ledger_events
  for each statement execute function refuse_to_rewrite_history();

-- Partial indexes, which cost other events only a look at the condition. Whatever else events are found by is in
-- 0002-ledger-indexes.sql.

-- The draws of a user, newest first.
create index ledger_draws on ledger_events (actor, position desc) where type = 'gift-drawn';
-- The cards that a user activated and the seats that a user took, newest first.
create index ledger_acts_of_users on ledger_events (actor, type, position)
  where type in ('card-activated', 'roulette-joined');
-- What members of staff did, newest first.
create index ledger_staff_acts on ledger_events (position) where actor like 'staff:%';
-- What stored replies became when a person in them was erased.
create index ledger_redacted_replies on ledger_events (position) where type = 'replies-blanked';
-- Who approved, rejected and transferred withdrawals.
create index ledger_withdrawal_changes on ledger_events (position) where type = 'withdrawal-status-changed';

-- 50,000,000 events are some 20 GB, which one restore, vacuum or move to another disk can deal with, and at 13,000 events a
-- second an hour, in which the service looks six times whether the next partition is there.
create function make_ledger_partitions(size bigint default 50000000) returns void
  -- A session of the ledger's role finds the ledger's tables only, and temporary ones last.
  language plpgsql security definer set search_path from current as $$
declare
  current_first bigint := (select position from ledger_head) / size * size;
  partition_first bigint;
  partition_name text;
begin
  if to_regclass('ledger_events_from_' || current_first + size) is not null then
    return;
  end if;
  -- One caller at a time, while commands are read and written.
  lock table ledger_events in share update exclusive mode;
  foreach partition_first in array array[current_first, current_first + size] loop
    partition_name := 'ledger_events_from_' || partition_first;
    continue when to_regclass(partition_name) is not null;
    -- Attached, because `create table … partition of` would wait for those who read the ledger, and make all others wait.
    execute format('create table %I (like ledger_events including constraints)', partition_name);
    execute format('alter table ledger_events attach partition %I for values from (%s) to (%s)',
                   partition_name, partition_first, partition_first + size);
    -- Partitions get the triggers of rows from their table, and no other triggers.
    execute format('create trigger never_truncated before truncate on %I
                      for each statement execute function refuse_to_rewrite_history()', partition_name);
  end loop;
end
$$;
comment on function make_ledger_partitions is
  'Makes the partition that the ledger ends in and an empty one after it, where they are missing.';
revoke execute on function make_ledger_partitions from public;

-- What cannot be unpacked is answered as it stands: the hash of its event then shows that it was changed.

create function ledger_account(code text) returns text language sql immutable parallel safe as $$
  select coalesce(
    case left(code, 1)
      when 'u' then 'user' when 'd' then 'debt' when 'r' then 'room' when 'g' then 'game' when 'w' then 'withdrawal'
      when 's' then 'settled' when 'h' then 'house' when 'i' then 'issuance' when 'p' then 'purchases'
    end
    || ':' || substr(code, 2, nullif(greatest(length(code) - 2, 0), 0)) || ':' ||
    case right(code, 1)
      when 'c' then 'coins' when 'd' then 'diamonds' when 't' then 'target' when '$' then 'dollars' when 'a' then 'agent_dollars'
    end, code)
$$;
comment on function ledger_account is 'user:7:diamonds for u7d: the name of an account as movements have it.';

create function ledger_legs(movements text, out leg bigint, out debit text, out credit text, out amount text)
returns setof record language sql immutable parallel safe as $$
  -- Not by string_to_table, of which the planner expects 1,000 rows.
  select row_number() over (order by parts.number, legs.number), split_part(part, '>', 1), split_part(leg, ' ', 1),
         substr(leg, strpos(leg, ' ') + 1)
  from unnest(string_to_array(movements, ';')) with ordinality as parts (part, number),
       unnest(string_to_array(substr(part, strpos(part, '>') + 1), ',')) with ordinality as legs (leg, number)
$$;
comment on function ledger_legs is 'The movements of an event, in order, with accounts as they are packed.';

-- Not parallel safe: before PostgreSQL 17 no exception can be caught in a parallel query.

create function ledger_id(packed bytea) returns text language plpgsql immutable as $$
declare
  unpacked text;
begin
  if octet_length(packed) = 16 then
    return encode(packed, 'hex')::uuid::text;
  end if;
  unpacked := convert_from(
    case when octet_length(packed) = 17 and substr(packed, 1, 1) = '\x00' then substr(packed, 2) else packed end, 'UTF8');
  -- A UUID would have been packed as one.
  if unpacked ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then
    return packed::text;
  end if;
  return unpacked;
exception when character_not_in_repertoire then
  return packed::text;
end
$$;
comment on function ledger_id is 'The text of a request id or idempotency key.';

create function ledger_data(packed text, fields text[]) returns text language plpgsql immutable as $$
declare
  packed_again text;
  unpacked text;
begin
  if packed like '[%' and fields is not null then
    select '[' || coalesce(string_agg(value::text, ',' order by place), '') || ']',
           '{' || coalesce(string_agg('"' || fields[place] || '":' || value, ',' order by place), '') || '}'
    into packed_again, unpacked
    from json_array_elements(packed::json) with ordinality as list (value, place)
    having count(*) <= cardinality(fields);
  end if;
  return case when packed_again = packed then unpacked else packed end;
exception when others then
  return packed;
end
$$;
comment on function ledger_data is 'The data of an event as a JSON object, to the letter.';

create view ledger_movements as
  select e.position, e.at, e.type, e.actor, m.leg, ledger_account(m.debit) as debit, ledger_account(m.credit) as credit,
         split_part(ledger_account(m.debit), ':', 3) as currency,
         substring(m.amount from '^[0-9]{1,18}$')::bigint as amount
  from ledger_events e, ledger_legs(e.movements) m;
comment on view ledger_movements is
  'The ledger for people with psql: a row a movement, with the amount in the smallest unit of the currency.';

create view ledger as
  select e.position, e.type, e.version, ledger_data(e.data, t.fields) as data,
         (select coalesce(string_agg(
                   ledger_account(debit) || ' ' || ledger_account(credit) || ' ' || amount || ';', '' order by leg), '')
          from ledger_legs(e.movements)) as movements,
         e.actor, e.at, ledger_id(e.request_id) as request_id, ledger_id(e.idempotency_key) as idempotency_key,
         encode(e.reply_hash, 'hex') as reply_hash, encode(e.hash, 'hex') as hash
  from ledger_events e
  left join event_types t using (type, version);
comment on view ledger is
  'The ledger for people with psql: each event as it is hashed, its movements as `<debit> <credit> <amount>;`.';

create table ledger_head (
  one      boolean primary key default true check (one),
  position bigint not null,
  hash     text not null,
  at       timestamptz not null,
  -- The last transaction. A transaction that was decided beforehand names the one that it was decided on: position and
  -- hash do not tell, as a transaction that only stores a refusal moves neither.
  batch    uuid not null
);
insert into ledger_head (position, hash, at, batch) values (0, repeat('0', 64), 'epoch', gen_random_uuid());
select make_ledger_partitions();
comment on table ledger_head is
  'The end of the ledger: one row. A transaction that appends locks it first and keeps it until commit, on every '
  'instance, so that position order is commit order, without gaps, and nothing can deadlock.';

create table ledger_batches (
  id       uuid primary key,
  position bigint not null,
  at       timestamptz not null default clock_timestamp()
);
comment on table ledger_batches is
  'A row a transaction of the executor, for an hour: tells after a lost answer to COMMIT whether it happened.';

create table replies (
  -- The first 16 bytes of SHA-256 of actor, line break and idempotency key. No key of an earlier day is inserted again, by
  -- the statement that inserts; each partition has a unique index of its own, which keeps the keys of one day apart.
  key          uuid not null,
  -- The first 16 bytes of a SHA-256.
  request_hash uuid not null,
  at           timestamptz not null,
  status       smallint not null,
  body         text not null
) partition by range (at);
comment on table replies is 'What commands with an idempotency key were answered, for 48 hours to 72: a partition a day.';

-- What no day has, when the clock has jumped: no reply is ever refused for want of a partition.
create table replies_other_days partition of replies default;
create unique index replies_other_days_key on replies_other_days (key);

-- Each partition has an index of the persons in its replies, so that one who is erased is found. Most replies name nobody.
create function persons_in_reply(body text) returns bigint[] language sql immutable parallel safe as $$
  select array_agg(distinct id[1]::bigint) from regexp_matches(body, '"id":([0-9]{1,16}),', 'g') as id
$$;
create index replies_other_days_persons on replies_other_days using gin (persons_in_reply(body))
  where body like '%"avatar"%';

-- A partition that is made or dropped has to wait for those who read `replies_other_days` or `replies`, and others wait for
-- it meanwhile: not longer than the time-out of a lock. Then nothing is done, until the next call.
create function rotate_reply_days() returns void
  language plpgsql security definer
  set search_path from current set timezone = 'UTC' set lock_timeout = '100ms' as $$
declare
  -- The time that has really passed, and not that of a clock that may have jumped.
  kept_from timestamptz := (select at from passed_time) - interval '48 hours';
  reply_day date;
  partition_name text;
begin
  -- One caller at a time.
  lock table replies in share update exclusive mode;
  delete from replies_other_days where at < kept_from;
  for partition_name in
    select relid::regclass::text from pg_partition_tree('replies')
    where relid::regclass::text ~ '^replies_\d' and to_date(relid::regclass::text, '"replies_"YYYY_MM_DD') + 1 <= kept_from
  loop
    execute format('drop table %I', partition_name);
  end loop;
  for reply_day in select generate_series(current_date, current_date + 2, interval '1 day') loop
    partition_name := to_char(reply_day, '"replies_"YYYY_MM_DD');
    continue when to_regclass(partition_name) is not null
      or exists (select from replies_other_days where at >= reply_day and at < reply_day + 1);
    execute format('create table %I (like replies)', partition_name);
    execute format('create unique index on %I (key)', partition_name);
    execute format('create index on %I using gin (persons_in_reply(body)) where body like ''%%"avatar"%%''', partition_name);
    execute format('alter table replies attach partition %I for values from (%L) to (%L)',
                   partition_name, reply_day, reply_day + 1);
  end loop;
exception when lock_not_available then
  null;
end
$$;
comment on function rotate_reply_days is
  'Makes the partitions of replies for today and two days more, and drops those that are older than 48 hours.';
revoke execute on function rotate_reply_days from public;

create table ledger_cursors (
  name     text primary key,
  position bigint not null
);
comment on table ledger_cursors is 'The last event that the index of the ledger and each subscriber have dealt with.';

create table balances (
  -- In the order of its bytes, as lists are.
  account text collate "C" primary key,
  -- numeric: accounts of the system may pass 2^63.
  balance numeric not null,
  -- Keeps room on the page of a row that is rewritten with every gift, so that its next versions need no new index
  -- entries. PostgreSQL clears a page of old versions whenever less of it is free than a fill factor keeps free, so that
  -- with one each page would be cleared at every write. Instead a row begins with a filling and drops it when it is
  -- first rewritten: what is free then takes dozens of versions before the page is cleared once.
  filling text
);
comment on table balances is
  'The balance of each account that ever moved, in the smallest unit of its currency. From the ledger.';

create table holds (
  account text primary key,
  held    numeric not null
);
comment on table holds is
  'What is on hold of an account; no row where nothing is. The balance less this is available. From the ledger.';

create table key_fingerprints (
  name        text primary key,
  fingerprint text not null
);
comment on table key_fingerprints is
  'Fingerprints of the keys that secrets of the ledger derive from, with which alone an instance starts, and the public key by which seals are checked.';
