-- The index of the ledger: what events are found by. It is written after the commit; on ledger_events itself it would
-- cost every command.

create table ledger_index_segments (
  -- A segment has the events of 256 positions times 32 to the power of its level; those that are live cover the ledger up
  -- to the cursor `indexes`, without overlaps.
  level smallint not null,
  -- The position before its first event.
  base  bigint not null,
  -- live; building: being merged from 32 of the level below; dead: replaced by one of the level above.
  state text not null,
  primary key (level, base)
);
comment on table ledger_index_segments is
  'The parts of the index of the ledger. Those that are live follow from the events.';

create table ledger_index (
  level smallint not null,
  base  bigint not null,
  -- The first term of the page: an account that events move, or a fact about them.
  term  bytea not null,
  -- The first event of this term on the page: its position less base.
  first bigint not null,
  -- Terms and events in order; src/ledger/indexes/index-pages.ts has the form.
  data  bytea not null,
  primary key (level, base, term, first)
);
comment on table ledger_index is
  'Which events moved an account and by how much, and which have a type, an actor, a user, a room, a request or a key.';
