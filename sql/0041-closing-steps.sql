-- Where the steps of each month's closing stand, for all instances and command lines. Not from the ledger.
create table closing_steps (
  -- YYYY-MM
  month          text not null,
  step           text not null,
  -- Of this run of the step: whoever was replaced writes nothing more.
  run_id         uuid not null,
  state          text not null check (state in ('running', 'done', 'failed')),
  made_by        text not null,
  started_at     timestamptz not null default clock_timestamp(),
  -- Written about every second while it runs; then its end.
  heartbeat_at   timestamptz not null default clock_timestamp(),
  -- The positions that it was made of.
  first_position bigint not null,
  last_position  bigint not null,
  -- Events that were read, of those to be read; null before it has read anything.
  events_read    bigint,
  events_total   bigint,
  -- JSON: the steps that follow it in the same run.
  queued         text not null,
  -- Who asked for its end.
  stopped_by     text,
  -- The host and the folder that have its files.
  kept_in        text not null,
  -- JSON: a sentence and the first rows of a table.
  result         text,
  -- JSON: [{ name, bytes, sha256 }]
  files          text not null default '[]',
  -- Why it did not come to an end.
  error          text,
  primary key (month, step)
);
