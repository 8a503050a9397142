-- Where instances find the one that writes for all. Not part of the ledger: any instance may write, and this one only
-- saves the others the contest for the head.

create table ledger_writer (
  only_row      boolean primary key default true check (only_row),
  writer        text not null check (writer ~ '^[0-9a-f]{8}$'),
  -- For instances on other hosts: host and port; null when they cannot reach it.
  address       text check (length(address) between 3 and 300),
  -- The session that holds the lock: a row without it, as in a copy of the database, is that of no writer.
  pid           bigint not null,
  session_start timestamptz not null,
  elected_at    timestamptz not null default now()
);
