create table roulette_games (
  -- The position of the event that created it.
  game_id      bigint primary key,
  uid          text not null,
  room_id      bigint not null,
  creator_id   bigint not null,
  -- open, finished or cancelled
  status       text not null,
  game_price   bigint not null,
  max_players  bigint not null,
  fee_percent  bigint not null,
  -- While it is open, what a full game pays; after the finish, what the winner was paid.
  prize        bigint not null,
  -- JSON: [{ entry, user_id, stake, client_seed }] in the order of joining.
  entries      text not null,
  incarnation  text not null,
  -- SHA-256 that commits to the seed of the server.
  commitment   text not null,
  winner_id    bigint,
  -- JSON: { server_seed, entries_hash, draw }
  spin         text,
  created_at   timestamptz not null,
  -- Since when an open game has had no players; null while it has any, and after it has ended.
  empty_since  timestamptz,
  ended_at     timestamptz,
  -- The position of the event that finished or cancelled it.
  end_position bigint
) with (fillfactor = 60); -- room on each page for the next version of its rows
-- For the search for games that nobody finished.
create index roulette_games_open_by_age on roulette_games (created_at) where status = 'open';
create index roulette_games_empty on roulette_games (empty_since) where status = 'open';
comment on table roulette_games is 'Roulette games; amounts are coins. From the ledger.';

create table roulette_open_games (
  room_id bigint primary key,
  game_id bigint not null
);
comment on table roulette_open_games is 'The open game of each room that has one. From the ledger.';
