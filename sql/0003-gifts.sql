-- All from the ledger.

create table decorations (
  decoration_id bigint primary key,
  name          text not null,
  kind          text not null,
  -- Diamonds.
  price         bigint not null,
  image_path    text not null,
  -- JSON: [{ multiplier (ten-thousandths), weight }]
  odds          text not null,
  odds_hash     text,
  created_at    timestamptz not null
);

-- Every odds table that ever was in force, by the SHA-256 of its canonical JSON.
create table odds_tables (
  odds_hash     text primary key,
  decoration_id bigint not null,
  odds          text not null
);

create table bag_items (
  user_id       bigint not null,
  decoration_id bigint not null,
  quantity      bigint not null,
  -- Position of the event that last added to it.
  added_at      bigint not null,
  primary key (user_id, decoration_id)
);

-- Consecutive sends of one gift by one sender in one room.
create table gift_streaks (
  sender_id     bigint not null,
  room_id       bigint not null,
  decoration_id bigint not null,
  times         bigint not null,
  -- Diamonds won since the count started.
  won           bigint not null,
  last_at       timestamptz not null,
  primary key (sender_id, room_id, decoration_id)
);

-- Where each user's draws stand: chain <user_id>-<number>, of which `used` links are revealed.
create table lucky_progress (
  user_id         bigint primary key,
  number          bigint not null,
  used            bigint not null,
  client_seed     text not null,
  commitment      text not null,
  next_commitment text not null
);

-- The commitment of every chain that was ever opened or announced.
create table lucky_chains (
  chain        text primary key,
  user_id      bigint not null,
  commitment   text not null,
  fairness_key text not null
);
