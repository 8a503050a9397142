-- What staff may do only with a colleague's approval. From the ledger.
create table proposals (
  proposal_id bigint primary key,
  status      text not null,
  action      text not null,
  verb        text not null,
  -- The verb's input, as JSON.
  input       text not null,
  subject     text not null,
  -- In the smallest unit; both null where several are named.
  amount      bigint,
  currency    text,
  reason      text,
  -- As JSON; null while it is open.
  effects     text,
  maker       text not null,
  decided_by  text,
  note        text,
  refusal     text,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  decided_at  timestamptz
);
create index proposals_open on proposals (proposal_id) where status = 'open';

-- What each member of staff has moved alone in the last 24 hours, as JSON. From the ledger.
create table approval_uses (
  maker text primary key,
  uses  text not null
);
