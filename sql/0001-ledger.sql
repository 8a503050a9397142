-- The ledger: facts in one order. Everything else in this database is derived from it, or is words beside it.

create table ledger_events (
  position        bigint primary key check (position > 0),
  type            text not null,
  version         smallint not null,
  -- JSON text, kept to the letter because its bytes are hashed.
  data            text not null,
  -- One element a movement. An account is <kind>:<id>:<currency>; both sides are of one currency.
  debit           text[] not null,
  credit          text[] not null,
  amount          bigint[] not null,
  actor           text not null,
  at              timestamptz not null,
  request_id      text not null,
  idempotency_key text,
  reply_hash      text,
  -- SHA-256 over all of the above and the hash of the event before.
  hash            text not null,
  check (cardinality(debit) = cardinality(credit) and cardinality(debit) = cardinality(amount))
);

-- Beside the grants: nobody rewrites history by accident, the owner included.
create function refuse_to_rewrite_history() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end
$$;

create trigger append_only before update or delete on ledger_events
  for each row execute function refuse_to_rewrite_history();
create trigger never_truncated before truncate on ledger_events
  for each statement execute function refuse_to_rewrite_history();

-- A user's draws, newest first.
create index ledger_draws on ledger_events (actor, position desc) where type = 'gift-drawn';

-- The end of the ledger. Whoever appends locks this row first and keeps it until commit, on every instance:
-- so position order is commit order, without gaps, and there is nothing to deadlock on.
create table ledger_head (
  one      boolean primary key default true check (one),
  position bigint not null,
  hash     text not null,
  at       timestamptz not null
);
insert into ledger_head (position, hash, at) values (0, repeat('0', 64), 'epoch');

-- One row a transaction of the executor: tells after a lost answer to COMMIT whether it happened.
create table ledger_batches (
  id       uuid primary key,
  position bigint not null,
  at       timestamptz not null default clock_timestamp()
);

-- What a command with an idempotency key was answered.
create table replies (
  actor           text not null,
  idempotency_key text not null,
  request_hash    text not null,
  status          smallint not null,
  body            text not null,
  at              timestamptz not null,
  primary key (actor, idempotency_key)
);
create index replies_by_age on replies using brin (at);

-- Where followers of the ledger that must not lose their place have got to.
create table ledger_cursors (
  name     text primary key,
  position bigint not null
);

create table balances (
  account text primary key,
  -- numeric: the system's own accounts may pass 2^63.
  balance numeric not null
) with (fillfactor = 60); -- room on each page for the next version of its rows, which then needs no new index entry

-- Fingerprints of the keys that the ledger's secrets hang on.
create table key_fingerprints (
  name        text primary key,
  fingerprint text not null
);

-- For people with psql: a row a movement.
create view ledger_movements as
  select e.position, e.at, e.type, e.actor, m.leg, m.debit, m.credit,
         split_part(m.debit, ':', 3) as currency, m.amount
  from ledger_events e,
       unnest(e.debit, e.credit, e.amount) with ordinality as m (debit, credit, amount, leg);
