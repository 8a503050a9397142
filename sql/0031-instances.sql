-- What each instance of the service last said of itself. Not part of the ledger: the rows of instances that have been
-- silent for a while are deleted.
create table instances (
  -- Of this run of the process.
  id         uuid primary key,
  host       text not null,
  pid        bigint not null,
  -- Instances with the same one understand each other's commands.
  version    text not null,
  -- Commands that wait for a transaction here.
  queue      bigint not null,
  -- Events of the ledger that its subscribers have not read yet.
  lag        bigint not null,
  -- Open websockets.
  sockets    bigint not null,
  -- writer or forwarding
  role       text not null,
  started_at timestamptz not null,
  seen_at    timestamptz not null
);
