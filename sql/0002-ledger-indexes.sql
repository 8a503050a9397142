-- Indexes of the ledger that a subscriber writes after the commit: on ledger_events itself they would cost every command.
-- They follow from the events up to the cursor `indexes`, block by block; a block is 500 positions.

create table account_index (
  account text collate "C" not null,
  -- The position before the block: 0, 500, 1000, …
  base    bigint not null,
  -- An element for each movement of the account: the position of its event less base, in order.
  offsets smallint[] not null,
  -- After the last of them.
  balance numeric not null,
  primary key (account, base)
);
-- For whole blocks, which lie together as they are written in order.
create index account_index_blocks on account_index using brin (base) with (pages_per_range = 16, autosummarize = on);
comment on table account_index is
  'Which events moved an account, and its balance after them: a row for each block of 500 events that moved it.';

create table event_index (
  base  bigint primary key,
  -- hashtext of `type …`, `actor …`, `request …`, `key …` and `user …` of its events, sorted.
  terms integer[] not null
);
create index event_index_terms on event_index using gin (terms);
comment on table event_index is 'The terms that events can be found by: a row for each full block of 500 events.';

create table event_types (
  type    text not null,
  version smallint not null,
  primary key (type, version)
);
comment on table event_types is
  'The types and versions of the events that were indexed: an instance that does not know one of them does not start.';

-- The blocks whose events may have all of these terms. The planner would rather read the terms of every block, 40 ms at
-- 600,000 events, as it does not count what it takes to read texts that are stored out of line; by their index it is 0.3.
create function event_blocks(wanted integer[], first_base bigint, last_base bigint) returns setof bigint
  language sql stable
  set search_path from current
  set enable_seqscan = off
  set enable_indexscan = off
as $$
  -- By an expression, which the index of bases does not serve.
  select base from event_index where terms @> wanted and base + 0 between first_base and last_base
$$;
