-- From the ledger: whom the service is open to.

create table app_modes (
  -- There is one mode, `all`.
  scope              text primary key,
  maintenance        boolean not null,
  -- JSON: { en, ar }
  title              text not null,
  message            text not null,
  -- A client type, or null: clients of which nothing is known pass.
  block_unidentified text,
  updated_at         timestamptz not null
);

create table app_releases (
  client_type     text primary key,
  version         text not null,
  minimum_version text,
  store_link      text not null,
  -- JSON: { en, ar }
  title           text not null,
  message         text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  -- The event that created it: lists are newest first.
  created         bigint not null
);

-- What the holders of tokens last told of their app: for requests that tell nothing. A token itself stands nowhere.
create table told_clients (
  -- SHA-256 of the token.
  token_key text primary key,
  -- Null for a type that is none of ours.
  type      text,
  -- Null for a version that is missing or cannot be read.
  version   text,
  told_at   timestamptz not null
);
create index told_clients_by_time on told_clients (told_at);
