-- Indexes of the ledger that a subscriber writes after the events are committed: on ledger_events itself they would cost
-- every command. Both follow from the events up to the cursor `indexes`, block by block; a block is 500 positions.

-- Which events moved an account, and its balance after them.
create table account_index (
  account text collate "C" not null,
  -- The position before the block: 0, 500, 1000, …
  base    bigint not null,
  -- An element for each movement of the account: its event's position less base, in order.
  offsets smallint[] not null,
  -- After the last of them; numeric, as in balances.
  balance numeric not null,
  primary key (account, base)
);
-- For whole blocks, which lie together as they are written in order.
create index account_index_blocks on account_index using brin (base) with (pages_per_range = 16, autosummarize = on);

-- What to look for in which blocks; a row for each full block.
create table event_index (
  base  bigint primary key,
  -- hashtext of `type …`, `actor …`, `request …`, `key …` and `user …` of its events, sorted.
  terms integer[] not null
);
create index event_index_terms on event_index using gin (terms);
