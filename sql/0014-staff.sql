create table staff_sessions (
  sub            text primary key,
  -- Seconds since 1970: tokens issued before have expired.
  revoked_before bigint not null
);
comment on table staff_sessions is 'Members of staff whose tokens were revoked. From the ledger.';

create table ended_console_sessions (
  -- Random, from the cookie of the session; useless without the signature of the cookie.
  id       text primary key,
  ended_at timestamptz not null
);
comment on table ended_console_sessions is
  'Console sessions that ended by signing out, so that no copy of their cookie works on any instance. Deleted when the '
  'cookies have expired. Not part of the ledger.';

create table proposals (
  -- The position of the event that made it.
  proposal_id      bigint primary key,
  -- Digest of what it moves and grants.
  version          text not null,
  status           text not null,
  action           text not null,
  verb             text not null,
  subject          text not null,
  -- JSON, in the smallest units.
  amounts          text not null,
  -- JSON: days and rank of a package, or the price of a gift.
  terms            text not null,
  reason           text,
  rows_count       bigint not null,
  -- JSON: the rows of a salary file that are not paid, and why.
  not_paid         text not null,
  maker            text not null,
  decided_by       text,
  note             text,
  refusal          text,
  created_at       timestamptz not null,
  expires_at       timestamptz not null,
  decided_at       timestamptz,
  -- The position of the event that decided or ended it.
  decided_position bigint
);
create index proposals_open on proposals (proposal_id) where status = 'open';
-- Lists as of an earlier position find by this what was decided since.
create index proposals_by_decision on proposals (decided_position);
comment on table proposals is 'What staff may do only with the approval of a colleague. From the ledger.';

create table proposal_contents (
  proposal_id bigint primary key,
  -- JSON: the input of the verb.
  input       text not null,
  -- JSON; null unless it was approved or rejected.
  effects     text
);
comment on table proposal_contents is
  'The long part of each proposal, so that lists need not read it. From the ledger.';

create table approval_settings (
  scope  text primary key,
  -- JSON: what each member of staff may move alone in 24 hours, by limit, in smallest units; null: approvals are off.
  limits text
);
comment on table approval_settings is
  'Whether what staff move needs approval: one row, and none until it was set once, which means no. From the ledger.';

create table approval_uses (
  maker text primary key,
  -- JSON, oldest first.
  uses  text not null
);
comment on table approval_uses is 'What each member of staff has moved alone in the last 24 hours. From the ledger.';
