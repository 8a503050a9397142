-- Months that finance closed. From the ledger.
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
  closed_at      timestamptz not null
);

-- The last of them, from which the next one begins: one row. From the ledger.
create table last_closing (
  ledger        text primary key,
  month         text not null,
  last_position bigint not null
);
