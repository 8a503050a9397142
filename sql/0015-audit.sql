create table jobs (
  job_id          bigint generated always as identity primary key,
  -- verification, streamed-verification, closing, trial-balance, draws, rebuild or seal
  kind            text not null,
  -- What it is about: a month, a position, a period; empty where the kind says it all.
  subject         text not null,
  -- Jobs with the same text run one at a time; null: any number.
  exclusive       text,
  started_by      text not null,
  -- The key of the request, so that a retry finds the job.
  idempotency_key text,
  started_at      timestamptz not null default clock_timestamp(),
  -- Written about every second while it runs; when it is old, the process was killed.
  heartbeat_at    timestamptz not null default clock_timestamp(),
  ended_at        timestamptz,
  state           text not null default 'running' check (state in ('running', 'done', 'stopped', 'failed')),
  -- Who asked for its end.
  stopped_by      text,
  -- Events that were read, and how many there are to read.
  events_read     bigint not null default 0,
  events_total    bigint not null,
  -- JSON: what it was asked; its form depends on the kind.
  input           text not null,
  -- What came of it, or why it failed, in a sentence.
  summary         text,
  -- JSON: what the page of its kind shows of its result.
  result          text
);
create unique index jobs_exclusive on jobs (exclusive) where state = 'running';
create unique index jobs_keys on jobs (kind, started_by, idempotency_key);
create index jobs_kinds on jobs (kind, job_id);
comment on table jobs is
  'All that takes long, on all instances and command lines, with its progress and its result. Not part of the ledger.';

create table made_checkpoints (
  checkpoint_id   bigint generated always as identity primary key,
  made_by         text not null,
  -- The key of the request, so that a retry finds the checkpoint.
  idempotency_key text,
  at              timestamptz not null,
  position        bigint not null,
  hash            text not null
);
create unique index made_checkpoints_keys on made_checkpoints (made_by, idempotency_key);
comment on table made_checkpoints is
  'Checkpoints that staff made; the signed text follows from the row and CHECKPOINT_KEY. Not part of the ledger.';

create table month_closings (
  -- YYYY-MM
  month          text primary key,
  -- The position of its event.
  closing_id     bigint not null unique,
  first_position bigint not null,
  last_position  bigint not null,
  -- JSON: [{ name, sha256 }]
  files          text not null,
  -- JSON: a signed checkpoint of the last position.
  checkpoint     text not null,
  -- JSON: what its steps found that was acknowledged.
  acknowledged   text not null,
  closed_at      timestamptz not null
);
comment on table month_closings is 'Months that finance closed. From the ledger.';

create table last_closing (
  ledger        text primary key,
  month         text not null,
  last_position bigint not null
);
comment on table last_closing is 'The last closed month, after which the next one begins: one row. From the ledger.';

create table closing_steps (
  -- YYYY-MM
  month             text not null,
  step              text not null,
  -- The job that ran it last. A step without an end runs as long as that job does.
  job_id            bigint not null,
  started_at        timestamptz not null default clock_timestamp(),
  ended_at          timestamptz,
  -- The positions that it was made of.
  first_position    bigint not null,
  last_position     bigint not null,
  -- The host and the folder that have its files.
  kept_in           text not null,
  -- The id of that folder: the host changes with each container, and a path means another folder on another host.
  folder_id         text not null,
  -- Whether it came to its end and found nothing, not even what was acknowledged.
  passed            boolean not null default false,
  -- JSON: a sentence and the first rows of a table.
  result            text,
  -- JSON: [{ name, bytes, sha256 }]
  files             text not null default '[]',
  -- JSON: [{ finding, kind, subject, message }], those that were acknowledged and the first others.
  findings          text not null default '[]',
  has_more_findings boolean not null default false,
  -- Why it did not come to its end.
  error             text,
  primary key (month, step)
);
comment on table closing_steps is
  'What the steps of the closing of each month came to, for all instances and command lines. Not part of the ledger.';

create table finding_acknowledgements (
  -- The first 16 hex digits of SHA-256 of <step>|<kind>|<subject>.
  finding            text primary key,
  -- The position of its event.
  acknowledgement_id bigint not null unique,
  step               text not null,
  kind               text not null,
  -- The position of an event, an account, or a row of a table.
  subject            text not null,
  -- YYYY-MM: the month whose closing it stopped.
  month              text not null,
  acknowledged_by    text not null,
  reason             text not null,
  acknowledged_at    timestamptz not null
);
comment on table finding_acknowledgements is
  'Findings that operators acknowledged, which stop no closing any more. From the ledger.';

create table seals (
  position  bigint primary key,
  -- The position of its event.
  seal_id   bigint not null unique,
  sealed_at timestamptz not null
);
comment on table seals is
  'Positions of the ledger from which a replay can begin, as there are snapshots of the rows as of them. From the ledger.';
