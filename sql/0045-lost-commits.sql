-- An instance that notices that commits were lost says so here, and nothing is written until that is dealt with.

-- The database in which the ledger's present incarnation lives: a restore and a promotion change the timeline. Not part of
-- the ledger.
create table ledger_home (
  one               bigint primary key check (one = 1),
  system_identifier text not null,
  timeline          bigint not null
);

-- One row from when it is noticed until `ledger-restored` is committed. Not part of the ledger.
create table lost_commits (
  one         bigint primary key check (one = 1),
  -- The incarnation that begins then.
  incarnation text not null,
  reason      text not null,
  -- The last event that was seen, where that is known.
  position    bigint,
  hash        text,
  -- Where the ledger ended when it was noticed.
  ended_at    bigint not null,
  noticed_at  timestamptz not null
);
