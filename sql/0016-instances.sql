-- What instances share besides the ledger.

create table instances (
  -- This run of the process.
  id         uuid primary key,
  host       text not null,
  pid        bigint not null,
  -- Instances with the same version understand the commands of each other.
  version    text not null,
  -- JSON: the versions that it reads of each type of event.
  reads      text not null,
  -- Commands that wait for a transaction here.
  queue      bigint not null,
  -- Events that its subscribers have not read yet.
  lag        bigint not null,
  -- Open websockets.
  sockets    bigint not null,
  -- writer or forwarding
  role       text not null,
  started_at timestamptz not null,
  seen_at    timestamptz not null
);
comment on table instances is
  'What each instance last said of itself; deleted after a while of silence. Not part of the ledger.';

create table ledger_writer (
  only_row      boolean primary key default true check (only_row),
  writer        text not null check (writer ~ '^[0-9a-f]{8}$'),
  -- Host and port, for instances on other hosts; null when they cannot reach it.
  address       text check (length(address) between 3 and 300),
  -- The session that owns the lock: a row without it, as in a copy of the database, names no writer.
  pid           bigint not null,
  session_start timestamptz not null,
  elected_at    timestamptz not null default now()
);
comment on table ledger_writer is
  'Where instances find the one that writes for all: one row. Any instance may write; this one only saves the others the '
  'contest for the head. Not part of the ledger.';

create table live_announcements (
  -- user:<id> or global
  channel  text not null,
  position bigint not null,
  -- The position that was announced on the channel before this one; null for its first.
  prev     bigint,
  at       timestamptz not null,
  primary key (channel, position)
);
create index live_announcements_by_age on live_announcements (at);
comment on table live_announcements is
  'Which event was announced to a user or everybody in the last minutes, for clients that reconnect to any instance. A '
  'subscriber writes it after the commit; what rooms were told is found by the index of the ledger. Not part of the ledger.';

create table live_channels (
  channel text primary key,
  last    bigint not null
) with (fillfactor = 70); -- room on each page for the next version of its rows
comment on table live_channels is
  'The last position that was announced to each user and to everybody, however long ago. Not part of the ledger.';

create table passed_time (
  only_row boolean primary key default true check (only_row),
  at       timestamptz not null
);
insert into passed_time (at) values (clock_timestamp());
select rotate_reply_days();
comment on table passed_time is
  'Until when time has really passed, for what deletes by age: one row. It advances at most twice as fast as the clocks '
  'of instances, and never beyond that of the database, which may jump. Not part of the ledger.';
