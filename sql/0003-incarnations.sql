-- Positions and ids are used again after commits were lost, so that what is drawn derives from the incarnation, too.

create table ledger_incarnation (
  one         bigint primary key,
  incarnation text not null,
  -- The event that names it.
  position    bigint not null,
  -- Positions that clients send without an incarnation are refused for a day after commits were lost.
  began_at    timestamptz not null
);
comment on table ledger_incarnation is
  'The current life of the ledger, which began with its first event or after commits were lost: one row. From the '
  'ledger.';

create table ledger_home (
  one               bigint primary key check (one = 1),
  system_identifier text not null,
  timeline          bigint not null
);
comment on table ledger_home is
  'The database in which the current incarnation lives, which a restore or a promotion changes: one row. Not part of '
  'the ledger.';

create table lost_commits (
  one         bigint primary key check (one = 1),
  -- The incarnation that begins with `ledger-restored`.
  incarnation text not null,
  reason      text not null,
  -- The last event that was seen; null where that is not known.
  position    bigint,
  hash        text,
  -- The last position of the ledger when it was noticed.
  ended_at    bigint not null,
  noticed_at  timestamptz not null
);
comment on table lost_commits is
  'One row from when an instance notices that commits were lost until `ledger-restored` is committed: nothing else is '
  'written meanwhile. Not part of the ledger.';
