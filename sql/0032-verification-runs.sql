-- Verifications that staff started, one at a time on all instances together. Not from the ledger.
create table verification_runs (
  run_id       bigint generated always as identity primary key,
  started_by   text not null,
  started_at   timestamptz not null default clock_timestamp(),
  -- Written about every second while it runs; an old one is of an instance that was killed.
  heartbeat_at timestamptz not null default clock_timestamp(),
  ended_at     timestamptz,
  outcome      text not null default 'running' check (outcome in ('running', 'clean', 'findings', 'stopped', 'failed')),
  -- Events that were read, of those to be read.
  events_read  bigint not null default 0,
  events_total bigint not null,
  -- The last event that was checked.
  up_to        bigint,
  -- Who asked for its end.
  stopped_by   text,
  -- JSON: the first findings.
  findings     text not null default '[]',
  -- JSON: the signed checkpoint that history was compared with.
  checkpoint   text
);
create unique index verification_runs_running on verification_runs ((true)) where outcome = 'running';

-- Checkpoints that staff made. The signed text follows from these columns and CHECKPOINT_KEY.
create table made_checkpoints (
  checkpoint_id bigint generated always as identity primary key,
  made_by       text not null,
  -- As it was signed: ISO 8601 in UTC with microseconds.
  at            timestamptz not null,
  position      bigint not null,
  hash          text not null
);
