-- Where users can be told something. Tokens are personal data: they stand in this file's tables and nowhere else.
create table devices (
  token         text primary key,
  -- Whoever registered the token last.
  user_id       bigint not null,
  platform      text not null,
  registered_at timestamptz not null
);
create index devices_of_user on devices (user_id, registered_at desc);

-- Notifications that are still to be sent, a row for each device; filled in the ledger's order, emptied as they arrive.
create table push_outbox (
  token        text not null,
  -- Of the event that it tells of.
  position     bigint not null,
  user_id      bigint not null,
  -- JSON: { title, body, type, identifier }
  notification text not null,
  attempts     integer not null default 0,
  -- Whoever sends it puts this off first, so that nobody else does, and another instance does should that one die.
  next_attempt timestamptz not null default clock_timestamp(),
  made_at      timestamptz not null default clock_timestamp(),
  primary key (token, position)
);
create index push_outbox_due on push_outbox (next_attempt);
