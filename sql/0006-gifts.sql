create table decorations (
  decoration_id bigint primary key,
  name          text not null,
  -- Null where one name serves both languages.
  name_ar       text,
  kind          text not null,
  -- Diamonds.
  price         bigint not null,
  image_path    text not null,
  -- For clients that show one.
  video_path    text,
  -- JSON: [{ multiplier (ten-thousandths), weight }]; empty for gifts without a draw.
  odds          text not null,
  odds_hash     text,
  created_at    timestamptz not null
);
comment on table decorations is 'The gifts of the catalogue. From the ledger.';

create table catalogue_counts (
  catalogue   text primary key,
  decorations bigint not null
);
comment on table catalogue_counts is 'How many gifts the catalogue has: one row. From the ledger.';

create table odds_tables (
  -- SHA-256 of its canonical JSON.
  odds_hash     text primary key,
  decoration_id bigint not null,
  odds          text not null
);
comment on table odds_tables is 'Every odds table that ever was in force. From the ledger.';

create table bag_items (
  user_id       bigint not null,
  decoration_id bigint not null,
  quantity      bigint not null,
  -- The position of the event that last added to it.
  added_at      bigint not null,
  primary key (user_id, decoration_id)
);
comment on table bag_items is 'The gifts in the bags of users. From the ledger.';

create table bag_counts (
  user_id bigint primary key,
  kinds   bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows
comment on table bag_counts is 'How many kinds of gifts a bag holds; no row where it is empty. From the ledger.';

create table bag_totals (
  decoration_id bigint primary key,
  quantity      numeric not null
);
comment on table bag_totals is
  'How many of a gift all bags hold together, by which a change of its price is valued. From the ledger.';

create table gift_streaks (
  sender_id     bigint not null,
  room_id       bigint not null,
  decoration_id bigint not null,
  times         bigint not null,
  -- Diamonds won since the count started.
  won           bigint not null,
  last_at       timestamptz not null,
  -- As that of balances.
  filling       text,
  primary key (sender_id, room_id, decoration_id)
);
comment on table gift_streaks is 'Consecutive sends of one gift by one sender in one room. From the ledger.';
