-- Which event of the ledger was announced on which channel: for clients who come back, on whatever instance. Written by
-- a follower of the ledger, a moment after the fact; what it has not got to yet is read off the ledger itself.

-- Of the last minutes only.
create table live_announcements (
  -- room:<id>, user:<id> or global
  channel  text not null,
  position bigint not null,
  -- The position that was announced on the channel before this one; null for its first.
  prev     bigint,
  at       timestamptz not null,
  primary key (channel, position)
);
create index live_announcements_by_age on live_announcements (at);

-- The last position that was announced on each channel, however long ago.
create table live_channels (
  channel text primary key,
  last    bigint not null
) with (fillfactor = 70);
