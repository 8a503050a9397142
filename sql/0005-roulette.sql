-- All from the ledger.

create table roulette_games (
  -- Position of the event that made it.
  game_id      bigint primary key,
  uid          text not null,
  room_id      bigint not null,
  creator_id   bigint not null,
  -- open, finished or cancelled
  status       text not null,
  -- Coins.
  game_price   bigint not null,
  max_players  bigint not null,
  fee_percent  bigint not null,
  -- Coins: while open what a full table wins, after the finish what the winner was paid.
  prize        bigint not null,
  -- JSON: [{ entry, user_id, stake, client_seed }] in the order of joining.
  entries      text not null,
  -- SHA-256 that commits to the server's seed.
  commitment   text not null,
  winner_id    bigint,
  -- JSON: { server_seed, entries_hash, draw }
  spin         text,
  created_at   timestamptz not null,
  ended_at     timestamptz,
  -- Position of the event that finished or cancelled it.
  end_position bigint
) with (fillfactor = 60); -- room on each page for the next version of its rows

-- The open game of each room that has one.
create table roulette_open_games (
  room_id bigint primary key,
  game_id bigint not null
);
