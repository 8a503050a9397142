create table app_modes (
  -- There is one mode, `all`.
  scope              text primary key,
  maintenance        boolean not null,
  -- JSON: { en, ar }
  title              text not null,
  message            text not null,
  -- Clients of which nothing is known must update to the release of this client type; null lets them pass.
  block_unidentified text,
  updated_at         timestamptz not null
);
comment on table app_modes is
  'Whether the service is in maintenance, and whether it refuses unidentified clients. From the ledger.';

create table app_releases (
  client_type     text primary key,
  version         text not null,
  -- Clients below this version are refused; null refuses none.
  minimum_version text,
  store_link      text not null,
  -- JSON: { en, ar }
  title           text not null,
  message         text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  -- The position of the event that created it: lists are newest first.
  created         bigint not null
);
comment on table app_releases is 'The release that clients of a type are asked to update to. From the ledger.';

create table told_clients (
  -- SHA-256 of the token, which itself is stored nowhere.
  token_key text primary key,
  -- Null for an unknown type.
  type      text,
  -- Null for a version that is missing or cannot be read.
  version   text,
  told_at   timestamptz not null
);
create index told_clients_by_time on told_clients (told_at);
comment on table told_clients is
  'What the holders of tokens last told of their app, for requests that tell nothing. Not part of the ledger.';
