-- A database as a service of the version before wrote it: its migrations, then its rows.
-- The people in it are those of the demo catalogue; its keys are those of test/harness/process/start-options.ts.

create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null);
create table kysely_migration_lock (id varchar(255) primary key, is_locked integer default 0 not null);
create table migration_checksums (name text primary key, sha256 text not null);
create table ledger_events (
  position        bigint primary key check (position > 0),
  type            text not null,
  version         smallint not null,
  data            text not null,
  debit           text[] not null,
  credit          text[] not null,
  amount          bigint[] not null,
  actor           text not null,
  at              timestamptz not null,
  request_id      text not null,
  idempotency_key text,
  reply_hash      text,
  hash            text not null,
  check (cardinality(debit) = cardinality(credit) and cardinality(debit) = cardinality(amount))
);
create function refuse_to_rewrite_history() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end
$$;
create trigger append_only before update or delete on ledger_events
  for each row execute function refuse_to_rewrite_history();
create trigger never_truncated before truncate on ledger_events
  for each statement execute function refuse_to_rewrite_history();
create index ledger_draws on ledger_events (actor, position desc) where type = 'gift-drawn';
create table ledger_head (
  one      boolean primary key default true check (one),
  position bigint not null,
  hash     text not null,
  at       timestamptz not null
);
insert into ledger_head (position, hash, at) values (0, repeat('0', 64), 'epoch');
create table ledger_batches (
  id       uuid primary key,
  position bigint not null,
  at       timestamptz not null default clock_timestamp()
);
create table replies (
  actor           text not null,
  idempotency_key text not null,
  request_hash    text not null,
  status          smallint not null,
  body            text not null,
  at              timestamptz not null,
  primary key (actor, idempotency_key)
);
create index replies_by_age on replies using brin (at);
create table ledger_cursors (
  name     text primary key,
  position bigint not null
);
create table balances (
  account text primary key,
  balance numeric not null
) with (fillfactor = 60); -- room on each page for the next version of its rows, which then needs no new index entry
create table key_fingerprints (
  name        text primary key,
  fingerprint text not null
);
create view ledger_movements as
  select e.position, e.at, e.type, e.actor, m.leg, m.debit, m.credit,
         split_part(m.debit, ':', 3) as currency, m.amount
  from ledger_events e,
       unnest(e.debit, e.credit, e.amount) with ordinality as m (debit, credit, amount, leg);
create table users (
  user_id                         bigint primary key,
  charging_agent                  boolean not null,
  allow_receive_withdraw_requests boolean not null,
  business_manager                boolean not null,
  agency_countries                text not null,
  sessions_revoked_before         bigint not null
);
create table rooms (
  room_id       bigint primary key,
  owner_id      bigint not null,
  trophy_points bigint not null
);
create table user_profiles (
  user_id    bigint primary key,
  uid        text not null unique deferrable initially deferred,
  name       text not null,
  avatar     text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  updated_by text not null
);
create view user_uids as select uid, user_id from user_profiles;
create table room_profiles (
  room_id    bigint primary key,
  uid        text not null unique deferrable initially deferred,
  name       text not null,
  cover_url  text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  updated_by text not null
);
create view room_uids as select uid, room_id from room_profiles;
create table room_members (
  room_id   bigint not null,
  user_id   bigint not null,
  joined_at timestamptz not null default clock_timestamp(),
  primary key (room_id, user_id)
);
create table countries (
  country_id bigint primary key,
  name       text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  updated_by text not null
);
create index user_profiles_newest on user_profiles (created_at desc, user_id desc);
create index room_profiles_newest on room_profiles (created_at desc, room_id desc);
create index countries_newest on countries (created_at desc, country_id desc);
create table decorations (
  decoration_id bigint primary key,
  name          text not null,
  kind          text not null,
  price         bigint not null,
  image_path    text not null,
  odds          text not null,
  odds_hash     text,
  created_at    timestamptz not null
);
create table odds_tables (
  odds_hash     text primary key,
  decoration_id bigint not null,
  odds          text not null
);
create table bag_items (
  user_id       bigint not null,
  decoration_id bigint not null,
  quantity      bigint not null,
  added_at      bigint not null,
  primary key (user_id, decoration_id)
);
create table gift_streaks (
  sender_id     bigint not null,
  room_id       bigint not null,
  decoration_id bigint not null,
  times         bigint not null,
  won           bigint not null,
  last_at       timestamptz not null,
  primary key (sender_id, room_id, decoration_id)
);
create table lucky_progress (
  user_id         bigint primary key,
  number          bigint not null,
  used            bigint not null,
  client_seed     text not null,
  commitment      text not null,
  next_commitment text not null
);
create table lucky_chains (
  chain        text primary key,
  user_id      bigint not null,
  commitment   text not null,
  fairness_key text not null
);
create table privilege_packages (
  privilege_package_id bigint primary key,
  name                 text not null,
  rank                 bigint not null,
  valid_days           bigint not null,
  icon_path            text not null,
  created_at           timestamptz not null
);
create table privilege_cards (
  card_id              bigint primary key,
  owner_id             bigint not null,
  privilege_package_id bigint not null,
  valid_days           bigint not null,
  activated            boolean not null,
  created_at           timestamptz not null,
  entered              bigint not null
);
create table privileges (
  user_id              bigint primary key,
  privilege_package_id bigint not null,
  rank                 bigint not null,
  valid_until          bigint not null
);
create index privilege_cards_stored on privilege_cards (owner_id, entered desc) where not activated;
create index privilege_packages_newest on privilege_packages (created_at desc, privilege_package_id desc);
create table roulette_games (
  game_id      bigint primary key,
  uid          text not null,
  room_id      bigint not null,
  creator_id   bigint not null,
  status       text not null,
  game_price   bigint not null,
  max_players  bigint not null,
  fee_percent  bigint not null,
  prize        bigint not null,
  entries      text not null,
  commitment   text not null,
  winner_id    bigint,
  spin         text,
  created_at   timestamptz not null,
  ended_at     timestamptz,
  end_position bigint
) with (fillfactor = 60); -- room on each page for the next version of its rows
create table roulette_open_games (
  room_id bigint primary key,
  game_id bigint not null
);
alter table balances add column filling text;
alter table balances reset (fillfactor);
alter table rooms add column filling text;
alter table lucky_progress add column filling text;
alter table gift_streaks add column filling text;
create table devices (
  token         text primary key,
  user_id       bigint not null,
  platform      text not null,
  registered_at timestamptz not null
);
create index devices_of_user on devices (user_id, registered_at desc);
create table push_outbox (
  token        text not null,
  position     bigint not null,
  user_id      bigint not null,
  notification text not null,
  attempts     integer not null default 0,
  next_attempt timestamptz not null default clock_timestamp(),
  made_at      timestamptz not null default clock_timestamp(),
  primary key (token, position)
);
create index push_outbox_due on push_outbox (next_attempt);
alter table ledger_head add column batch uuid not null default gen_random_uuid();
create table vault_keys (
  record_id text primary key,
  user_id   bigint not null,
  wrapped   text not null
);
create index vault_keys_of_user on vault_keys (user_id);
create table vault_records (
  record_id text primary key,
  sealed    text not null
);
create table app_modes (
  scope              text primary key,
  maintenance        boolean not null,
  title              text not null,
  message            text not null,
  block_unidentified text,
  updated_at         timestamptz not null
);
create table app_releases (
  client_type     text primary key,
  version         text not null,
  minimum_version text,
  store_link      text not null,
  title           text not null,
  message         text not null,
  created_at      timestamptz not null,
  updated_at      timestamptz not null,
  created         bigint not null
);
create table told_clients (
  token_key text primary key,
  type      text,
  version   text,
  told_at   timestamptz not null
);
create index told_clients_by_time on told_clients (told_at);
create table live_announcements (
  channel  text not null,
  position bigint not null,
  prev     bigint,
  at       timestamptz not null,
  primary key (channel, position)
);
create index live_announcements_by_age on live_announcements (at);
create table live_channels (
  channel text primary key,
  last    bigint not null
) with (fillfactor = 70);
create table holds (
  account text primary key,
  held    numeric not null
);
create table withdrawals (
  withdrawal_id       bigint primary key,
  type                text not null,
  status              text not null,
  user_id             bigint not null,
  target_id           bigint not null,
  beneficiary_id      bigint,
  country_id          bigint not null,
  wallet              text not null,
  amount              bigint not null,
  diamonds_per_dollar bigint,
  details             text,
  note                text,
  created_at          timestamptz not null,
  changed_at          timestamptz not null,
  changed             bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows
create table instant_transfers (
  transfer_id bigint primary key,
  user_id     bigint not null,
  receiver_id bigint not null,
  wallet      text not null,
  amount      bigint not null,
  rate        bigint not null,
  diamonds    bigint not null,
  created_at  timestamptz not null
);
create table salary_deposits (
  period        text not null,
  user_id       bigint not null,
  dollars       bigint not null,
  agent_dollars bigint not null,
  target        bigint not null,
  deposit_id    bigint not null,
  primary key (period, user_id)
);
create index withdrawals_of_user on withdrawals (user_id, withdrawal_id desc);
create index withdrawals_received on withdrawals (target_id, withdrawal_id desc);
create index withdrawals_unsettled on withdrawals (status, withdrawal_id desc) where status in ('pending', 'approved');
create index instant_transfers_of_user on instant_transfers (user_id, transfer_id desc);
alter table replies add column blanked boolean not null default false;
alter table replies drop column blanked;
create index ledger_blanked_replies on ledger_events (position) where type = 'replies-blanked';
create index users_charging_agents on users (user_id) where charging_agent and allow_receive_withdraw_requests;
create table room_member_counts (
  room_id bigint not null,
  slot    smallint not null,
  members bigint not null,
  primary key (room_id, slot)
) with (fillfactor = 50);
create function count_room_members() returns trigger language plpgsql security definer
  set search_path = public, pg_temp
as $$
declare
  own_slot constant smallint := pg_backend_pid() % 16;
begin
  if tg_op = 'TRUNCATE' then
    delete from room_member_counts;
  elsif tg_op = 'INSERT' then
    insert into room_member_counts as c (room_id, slot, members)
      select room_id, own_slot, count(*) from added group by room_id order by room_id
      on conflict (room_id, slot) do update set members = c.members + excluded.members;
  elsif tg_op = 'DELETE' then
    insert into room_member_counts as c (room_id, slot, members)
      select room_id, own_slot, -count(*) from removed group by room_id order by room_id
      on conflict (room_id, slot) do update set members = c.members + excluded.members;
  else
    insert into room_member_counts as c (room_id, slot, members)
      select room_id, own_slot, sum(change)
      from (select room_id, 1 as change from added union all select room_id, -1 from removed) as changes
      group by room_id having sum(change) <> 0 order by room_id
      on conflict (room_id, slot) do update set members = c.members + excluded.members;
  end if;
  return null;
end
$$;
create trigger count_added after insert on room_members referencing new table as added
  for each statement execute function count_room_members();
create trigger count_removed after delete on room_members referencing old table as removed
  for each statement execute function count_room_members();
create trigger count_moved after update on room_members referencing old table as removed new table as added
  for each statement execute function count_room_members();
create trigger count_truncated after truncate on room_members
  for each statement execute function count_room_members();
insert into room_member_counts (room_id, slot, members)
  select room_id, 0, count(*) from room_members group by room_id;
alter table roulette_games add column empty_since timestamptz;
with empty as (
  select game_id, created_at from roulette_games where status = 'open' and entries = '[]'
), last_left as (
  select (data::jsonb->>'game_id')::bigint as game_id, max(at) as at
  from ledger_events
  where type = 'roulette-left' and position > (select min(game_id) from empty)
  group by 1
)
update roulette_games g
set empty_since = coalesce(l.at, e.created_at)
from empty e left join last_left l using (game_id)
where g.game_id = e.game_id;
create index roulette_games_open_by_age on roulette_games (created_at) where status = 'open';
create index roulette_games_empty on roulette_games (empty_since) where status = 'open';
delete from devices d
using (select token, row_number() over (partition by user_id order by registered_at desc, token) as place from devices) p
where d.token = p.token and p.place > 20;
create view user_devices as
select u.user_id,
       (select coalesce(json_agg(d.token order by d.registered_at desc, d.token), '[]')::text
        from devices d where d.user_id = u.user_id) as tokens
from user_profiles u;
create table staff_sessions (
  sub            text primary key,
  revoked_before bigint not null
);
create table card_counts (
  user_id bigint primary key,
  stored  bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows
insert into card_counts (user_id, stored)
select owner_id, count(*) from privilege_cards where not activated group by owner_id;
create table bag_counts (
  user_id bigint primary key,
  kinds   bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows
create table catalogue_counts (
  catalogue   text primary key,
  decorations bigint not null
);
insert into bag_counts (user_id, kinds)
select user_id, count(*) from bag_items group by user_id;
insert into catalogue_counts (catalogue, decorations)
select 'decorations', count(*) from decorations having count(*) > 0;

alter table app_modes disable trigger user;
delete from app_modes;
insert into app_modes (scope, maintenance, title, message, block_unidentified, updated_at) values
('all', 'false', '{"en":"Maintenance","ar":"صيانة"}', '{"en":"Back at noon.","ar":"سنعود قريبًا."}', NULL, '2026-11-22 22:23:21.577635+00');
alter table app_modes enable trigger user;

alter table app_releases disable trigger user;
delete from app_releases;
insert into app_releases (client_type, version, minimum_version, store_link, title, message, created_at, updated_at, created) values
('android', '2.0', '1.0', 'https://store.example/app', '{"en":"Update available","ar":"يتوفر تحديث"}', '{"en":"Please install the new version.","ar":"يرجى تثبيت الإصدار الجديد."}', '2026-11-22 22:23:21.504707+00', '2026-11-22 22:23:21.504707+00', '56');
alter table app_releases enable trigger user;

alter table bag_counts disable trigger user;
delete from bag_counts;
insert into bag_counts (user_id, kinds) values
('1', '1');
alter table bag_counts enable trigger user;

alter table bag_items disable trigger user;
delete from bag_items;
insert into bag_items (user_id, decoration_id, quantity, added_at) values
('1', '1', '4', '32');
alter table bag_items enable trigger user;

alter table balances disable trigger user;
delete from balances;
insert into balances (account, balance, filling) values
('game:34:coins', '0', NULL),
('game:39:coins', '0', NULL),
('house:exchange:agent_dollars', '100', '                                                                '),
('house:gifts:diamonds', '340', NULL),
('house:salary:target', '5', '                                                                '),
('issuance:exchange:diamonds', '-10000', '                                                                '),
('issuance:gifts:target', '-191', NULL),
('issuance:operator:agent_dollars', '-12000', '                                                                '),
('issuance:operator:coins', '-150050', NULL),
('issuance:operator:diamonds', '-140000', '                                                                '),
('issuance:operator:dollars', '-25000', '                                                                '),
('issuance:salary:dollars', '-4025', '                                                                '),
('room:1:target', '1', '                                                                '),
('settled:4:dollars', '2050', '                                                                '),
('user:1:coins', '49900', NULL),
('user:1:diamonds', '99660', NULL),
('user:1:dollars', '22950', NULL),
('user:2:coins', '49900', NULL),
('user:2:diamonds', '30000', NULL),
('user:2:dollars', '3025', '                                                                '),
('user:2:target', '100', NULL),
('user:3:coins', '50250', NULL),
('user:3:diamonds', '20000', '                                                                '),
('user:3:dollars', '1000', '                                                                '),
('user:3:target', '85', NULL),
('user:4:agent_dollars', '11900', NULL),
('withdrawal:47:dollars', '0', NULL);
alter table balances enable trigger user;

alter table card_counts disable trigger user;
delete from card_counts;
insert into card_counts (user_id, stored) values
('1', '1'),
('2', '1');
alter table card_counts enable trigger user;

alter table catalogue_counts disable trigger user;
delete from catalogue_counts;
insert into catalogue_counts (catalogue, decorations) values
('decorations', '4');
alter table catalogue_counts enable trigger user;

alter table countries disable trigger user;
delete from countries;
insert into countries (country_id, name, created_at, updated_at, updated_by) values
('1', 'Egypt', '2026-11-22 22:22:20.018112+00', '2026-11-22 22:22:20.018112+00', 'system'),
('2', 'Saudi Arabia', '2026-11-22 22:22:20.018112+00', '2026-11-22 22:22:20.018112+00', 'system');
alter table countries enable trigger user;

alter table decorations disable trigger user;
delete from decorations;
insert into decorations (decoration_id, name, kind, price, image_path, odds, odds_hash, created_at) values
('1', 'Rose', 'standard', '10', 'gifts/rose.png', '[]', NULL, '2026-11-22 22:22:20.018112+00'),
('2', 'Sports car', 'standard', '5000', 'gifts/sports-car.png', '[]', NULL, '2026-11-22 22:22:20.018112+00'),
('3', 'Lucky clover', 'lucky', '100', 'gifts/lucky-clover.png', '[{"multiplier":0,"weight":640000},{"multiplier":10000,"weight":240000},{"multiplier":20000,"weight":95000},{"multiplier":50000,"weight":20000},{"multiplier":200000,"weight":4900},{"multiplier":7200000,"weight":100}]', 'cd51af1a1e1ab2010e4f6b4be8448fb91b751995bac085c90328c191d89a4a95', '2026-11-22 22:22:20.018112+00'),
('4', 'Boomerang', 'returnable', '50', 'gifts/boomerang.png', '[{"multiplier":5000,"weight":60},{"multiplier":10000,"weight":40}]', 'eef30caf63a9afd203ae669cf4a4980dae398b279760dfc83bda345c3aa6978e', '2026-11-22 22:22:20.018112+00');
alter table decorations enable trigger user;

alter table devices disable trigger user;
delete from devices;
insert into devices (token, user_id, platform, registered_at) values
('device-token-of-the-demo', '2', 'android', '2026-11-22 22:23:21.664971+00');
alter table devices enable trigger user;

alter table gift_streaks disable trigger user;
delete from gift_streaks;
insert into gift_streaks (sender_id, room_id, decoration_id, times, won, last_at, filling) values
('1', '1', '3', '3', '1000', '2026-11-22 22:22:25.174204+00', NULL),
('1', '1', '4', '1', '100', '2026-11-22 22:22:25.194115+00', '                                                                ');
alter table gift_streaks enable trigger user;

alter table holds disable trigger user;
delete from holds;
insert into holds (account, held) values
('user:1:dollars', '1250');
alter table holds enable trigger user;

alter table instant_transfers disable trigger user;
delete from instant_transfers;
insert into instant_transfers (transfer_id, user_id, receiver_id, wallet, amount, rate, diamonds, created_at) values
('51', '4', '2', 'agent_dollars', '100', '10000', '10000', '2026-11-22 22:23:21.411525+00');
alter table instant_transfers enable trigger user;

alter table key_fingerprints disable trigger user;
delete from key_fingerprints;
insert into key_fingerprints (name, fingerprint) values
('checkpoint', '2a52dbbd4897175b6f96e2e0cc88a21e982e9f9fb14b305eacb5d6067a1cbdc1'),
('fairness', '040d7be1f3c5b803dfb3808ca0ffa5e2a28dcb4ca3affa671232e57d3532dce9'),
('pii', '8a50803cad3db8ad8ffea4b02967ab5c6140fd4dab8a272d6c84ea8627895e5f');
alter table key_fingerprints enable trigger user;

alter table kysely_migration disable trigger user;
delete from kysely_migration;
insert into kysely_migration (name, "timestamp") values
('0001-ledger', '2026-11-22T22:22:19.654Z'),
('0002-people-and-rooms', '2026-11-22T22:22:19.668Z'),
('0003-gifts', '2026-11-22T22:22:19.676Z'),
('0004-privilege', '2026-11-22T22:22:19.685Z'),
('0005-roulette', '2026-11-22T22:22:19.693Z'),
('0006-room-on-pages', '2026-11-22T22:22:19.696Z'),
('0007-push', '2026-11-22T22:22:19.701Z'),
('0008-head-batch', '2026-11-22T22:22:19.704Z'),
('0009-vault', '2026-11-22T22:22:19.712Z'),
('0010-app-status', '2026-11-22T22:22:19.720Z'),
('0011-live', '2026-11-22T22:22:19.727Z'),
('0013-agency', '2026-11-22T22:22:19.740Z'),
('0014-forgotten-people', '2026-11-22T22:22:19.742Z'),
('0015-blanked-replies', '2026-11-22T22:22:19.744Z'),
('0016-charging-agents', '2026-11-22T22:22:19.746Z'),
('0016-room-member-counts', '2026-11-22T22:22:19.748Z'),
('0017-empty-games-and-device-lists', '2026-11-22T22:22:19.756Z'),
('0018-staff-sessions', '2026-11-22T22:22:19.761Z'),
('0019-card-counts', '2026-11-22T22:22:19.764Z'),
('0020-gift-counts', '2026-11-22T22:22:19.770Z');
alter table kysely_migration enable trigger user;

alter table kysely_migration_lock disable trigger user;
delete from kysely_migration_lock;
insert into kysely_migration_lock (id, is_locked) values
('migration_lock', '0');
alter table kysely_migration_lock enable trigger user;

alter table ledger_batches disable trigger user;
delete from ledger_batches;
insert into ledger_batches (id, "position", at) values
('11764605-3f3a-4aba-8880-023767d5ffae', '48', '2026-11-22 22:23:21.291509+00'),
('29290405-5c58-4750-928e-b49dd2e02412', '46', '2026-11-22 22:22:54.650609+00'),
('2bf07812-5119-44dd-90f5-cfc3a1f4ab35', '37', '2026-11-22 22:22:54.54401+00'),
('2cf8780a-0789-405e-9706-b38af67311aa', '29', '2026-11-22 22:22:25.170001+00'),
('31241923-f4ba-454c-9de9-a75ab56f67e7', '55', '2026-11-22 22:23:21.49342+00'),
('3f56e2cf-a5fd-46c9-9998-acbeef0cd084', '38', '2026-11-22 22:22:54.556711+00'),
('455a309a-0be5-43f2-ab2c-bcbdb8a6e703', '54', '2026-11-22 22:23:21.478229+00'),
('45c04ea0-c048-413b-8e7b-e017ecba8a18', '32', '2026-11-22 22:22:25.352761+00'),
('4f816beb-79ba-454c-aaa8-84b52b183148', '43', '2026-11-22 22:22:54.611925+00'),
('5cef4619-79b6-4c9d-b7c8-19c14ad96bd1', '40', '2026-11-22 22:22:54.568725+00'),
('5d04878a-4b04-420c-ad43-088995787b53', '47', '2026-11-22 22:23:21.138622+00'),
('5d959bb3-60b8-4c74-ac4a-59fdacbc2b7f', '31', '2026-11-22 22:22:25.218522+00'),
('60f0245d-4814-4fa4-aec3-91ba791b76f3', '56', '2026-11-22 22:23:21.527322+00'),
('85281478-f72f-49e1-a51a-8eb647b4ee29', '1', '2026-11-22 22:22:19.971508+00'),
('980fe195-b35d-408d-90b4-0d0ca9e5d6a6', '42', '2026-11-22 22:22:54.592681+00'),
('9a0093ab-e30a-49d5-9bef-bd4785ee1152', '36', '2026-11-22 22:22:54.512396+00'),
('9ff13b76-8026-4a78-b706-79c8f03f1ce5', '49', '2026-11-22 22:23:21.353475+00'),
('a52c1897-911a-4317-933d-3fecffb181fa', '35', '2026-11-22 22:22:54.44172+00'),
('b134c0a9-0fef-4572-ab22-985e5c1616eb', '45', '2026-11-22 22:22:54.637408+00'),
('b84570fb-64a1-4aa8-bc1f-3d8deffd5404', '50', '2026-11-22 22:23:21.399542+00'),
('bf76f08a-8c78-41cc-9e2f-99e2b8aff935', '59', '2026-11-22 22:23:21.706488+00'),
('bfba2b5b-889d-495f-8441-6ebced3f0d55', '53', '2026-11-22 22:23:21.450542+00'),
('c5df9de4-f0b6-4c55-9970-fb8b464ade2f', '60', '2026-11-22 22:23:21.735094+00'),
('c67a8928-97cc-45d2-9830-7319705d46e1', '51', '2026-11-22 22:23:21.423077+00'),
('cd031d16-5cc6-403d-b965-1a9a986573d7', '41', '2026-11-22 22:22:54.576985+00'),
('d1c34298-4b7b-4681-a09d-a21b3f65ffcd', '57', '2026-11-22 22:23:21.55584+00'),
('de7a71d0-6649-4b0c-ae9d-8721023a1bd2', '33', '2026-11-22 22:22:25.393498+00'),
('e70f36d0-f0de-480c-bce1-ba3985e72743', '28', '2026-11-22 22:22:25.135327+00'),
('e9cc011a-4b61-46e1-96b5-7bb46fc20b29', '26', '2026-11-22 22:22:25.04814+00'),
('ecc0a3f1-d8d3-4d2c-a095-0a98c4b35740', '30', '2026-11-22 22:22:25.183707+00'),
('f45f9ce0-1254-4fe3-abbb-983af93daf0c', '25', '2026-11-22 22:22:20.035012+00'),
('fa874ddb-67ed-4f34-9878-9c1fee22eb61', '58', '2026-11-22 22:23:21.682558+00'),
('fed2dee8-dbe9-490e-a903-742ba8d56f6e', '58', '2026-11-22 22:23:21.595628+00');
alter table ledger_batches enable trigger user;

alter table ledger_cursors disable trigger user;
delete from ledger_cursors;
insert into ledger_cursors (name, "position") values
('live', '53'),
('push', '47');
alter table ledger_cursors enable trigger user;

alter table ledger_events disable trigger user;
insert into ledger_events ("position", type, version, data, debit, credit, amount, actor, at, request_id, idempotency_key, reply_hash, hash) values
('1', 'ledger-opened', '1', '{"fairness_key":"040d7be1f3c5b803dfb3808ca0ffa5e2a28dcb4ca3affa671232e57d3532dce9"}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:19.966573+00', 'a395d68a-13de-4b61-8b9c-a8108400b09d', NULL, NULL, '22c03a0184562179c69a84a3f60ab4f22698c7729a7b822333df01b032e5aa07'),
('10', 'decoration-defined', '1', '{"decoration_id":3,"name":"Lucky clover","kind":"lucky","price":100,"image_path":"gifts/lucky-clover.png","odds":[{"multiplier":0,"weight":640000},{"multiplier":10000,"weight":240000},{"multiplier":20000,"weight":95000},{"multiplier":50000,"weight":20000},{"multiplier":200000,"weight":4900},{"multiplier":7200000,"weight":100}],"odds_hash":"cd51af1a1e1ab2010e4f6b4be8448fb91b751995bac085c90328c191d89a4a95"}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo gift 3', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '7561e1c24bdb6450bb04b3f88bfee1dbf9052ae3ddbee2f5d6bd9cf27ebaddf1'),
('11', 'decoration-defined', '1', '{"decoration_id":4,"name":"Boomerang","kind":"returnable","price":50,"image_path":"gifts/boomerang.png","odds":[{"multiplier":5000,"weight":60},{"multiplier":10000,"weight":40}],"odds_hash":"eef30caf63a9afd203ae669cf4a4980dae398b279760dfc83bda345c3aa6978e"}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo gift 4', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', 'f69a9475cc710cd8605d91742906db8cbee073540132cc52ec8a584bd40a7e66'),
('12', 'balance-credited', '1', '{"reason":"demo"}', '{issuance:operator:coins}', '{user:1:coins}', '{50000}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo coins of 1', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '17145257119f3a0e18c4f5db84e072ed4ff91c201b94cec401361c8ba0f64a7b'),
('13', 'balance-credited', '1', '{"reason":"demo"}', '{issuance:operator:diamonds}', '{user:1:diamonds}', '{100000}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo diamonds of 1', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', 'f06ca3411e4f04334614537880c2b19130e57e8f243fef42bb4cea61036e2688'),
('14', 'balance-credited', '1', '{"reason":"demo"}', '{issuance:operator:dollars}', '{user:1:dollars}', '{25000}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo dollars of 1', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '126689c84e4aa189cfc96ed419bad3c1465bb862b1d592f8a508a625cbb0370a'),
('15', 'balance-credited', '1', '{"reason":"demo"}', '{issuance:operator:coins}', '{user:2:coins}', '{50000}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo coins of 2', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '6815b192a560601f3a1f1c0def699b74798c31f66ced1ede4463fc14c147f096'),
('16', 'balance-credited', '1', '{"reason":"demo"}', '{issuance:operator:diamonds}', '{user:2:diamonds}', '{20000}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo diamonds of 2', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', 'e8032216bf6a617f495617709115f08fcdfd59da7f6213f9f6ab6569212a5dea'),
('17', 'balance-credited', '1', '{"reason":"demo"}', '{issuance:operator:coins}', '{user:3:coins}', '{50000}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo coins of 3', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '582f9faa14a1487878fd8f5f5d0a090fb66586802a7e61c48b0beb936e1bef0c'),
('18', 'balance-credited', '1', '{"reason":"demo"}', '{issuance:operator:diamonds}', '{user:3:diamonds}', '{20000}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo diamonds of 3', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '9438642cb13561c77114a212a192c9b70a9b1059f072bdd29984dc700645d66a'),
('19', 'balance-credited', '1', '{"reason":"demo"}', '{issuance:operator:agent_dollars}', '{user:4:agent_dollars}', '{12000}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo agent_dollars of 4', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', 'c7c1688d2a138db74b34370e786c7b0d56624c31a7fbf2b407ba6b2d6bf3bc26'),
('2', 'user-defined', '1', '{"user_id":1,"charging_agent":0,"allow_receive_withdraw_requests":0,"business_manager":0,"agency_countries":[]}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo users', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '8fb45ea89e3ea483cb7229a9dc48caa51df6e0fba2553817d79bf78ae108c687'),
('20', 'privilege-package-defined', '1', '{"privilege_package_id":1,"name":"Bronze","rank":1,"valid_days":7,"icon_path":"privileges/bronze.png"}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo package 1', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '5854347baf53d5b5324816ed2f8c7187b4ad634324e09536189c815e95d2a738'),
('21', 'privilege-package-defined', '1', '{"privilege_package_id":2,"name":"Silver","rank":2,"valid_days":30,"icon_path":"privileges/silver.png"}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo package 2', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', 'ee2871e44a65cb909e34018b3f50d514312178e18bb3390ad76b2a10b92f4c32'),
('22', 'privilege-package-defined', '1', '{"privilege_package_id":3,"name":"Gold","rank":3,"valid_days":30,"icon_path":"privileges/gold.png"}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo package 3', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', 'fc01e7065d7aabbfefc9b19e96fcfbee5a5712f635c343cb80f28a40a120a987'),
('23', 'card-granted', '1', '{"user_id":1,"privilege_package_id":1,"valid_days":7,"reason":"demo"}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo card 1', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '1bdf9b0362ffcfdcaa4fcd03775a8efecd57ba9a103d04f425fe80a76b8068d1'),
('24', 'card-granted', '1', '{"user_id":1,"privilege_package_id":2,"valid_days":30,"reason":"demo"}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo card 2', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '56029d00f3d74907dcc6a2efb80135b334bf9562470f3a575c4de90e08ae501b'),
('25', 'card-granted', '1', '{"user_id":1,"privilege_package_id":3,"valid_days":30,"reason":"demo"}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo card 3', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '7ae8b018a89ac9dec5ba11faaa68df50822b43f18dcc0658b55ba0bdfb866d71'),
('26', 'gift-sent', '1', '{"sender_id":1,"receiver_ids":[2,3],"room_id":1,"decoration_id":1,"kind":"standard","price":10,"quantity":2,"cost":40,"from_bag":false,"encrypted":false,"receiver_percent":100,"room_percent":3,"owner_percent":0,"trophy_points":40}', '{user:1:diamonds,issuance:gifts:target,issuance:gifts:target,issuance:gifts:target}', '{house:gifts:diamonds,user:2:target,user:3:target,room:1:target}', '{40,20,20,1}', 'user:1', '2026-11-22 22:22:25.020939+00', 'b002acc5-b28d-44be-887f-ff92425af5d1', 'first-1', '3ed6da01362ac36c717b2ae24fecc2726e92f28e111621fef05bdacfcb764411', '041f0f8e527cbba4bd6d909ff6fb81311704543831c8ddc8434dd63c2ddf2f4e'),
('27', 'lucky-chain-opened', '1', '{"user_id":1,"chain":"1-1","number":1,"commitment":"c17cd37a04a96cec320905f7bdd1bb5fd15a08a1eeaa406d4a60f2f3277f9d24","client_seed":"1","next_chain":"1-2","next_commitment":"4f2f7bc09661ba2ededf80afc4fbed5d7736f96c523abac11c0dc615e1dad32f","fairness_key":"040d7be1f3c5b803dfb3808ca0ffa5e2a28dcb4ca3affa671232e57d3532dce9"}', '{}', '{}', '{}', 'user:1', '2026-11-22 22:22:25.087491+00', 'e83d9575-b350-40e4-86a0-d93955ac37d2', 'first-2', '7cf997fd6f5a51be6fcac9d8fd206d51ea1f2e95a5b6408161c4462c06ca9944', 'ff8a0ed94831cc45bcdab987b277c6eddf7cee2a29217d796e70dedfc5cdce2b'),
('28', 'gift-drawn', '1', '{"sender_id":1,"receiver_ids":[2,3],"room_id":1,"decoration_id":3,"kind":"lucky","price":100,"quantity":2,"cost":400,"from_bag":false,"encrypted":false,"receiver_percent":10,"room_percent":0,"owner_percent":0,"trophy_points":0,"chain":"1-1","k":1,"link":"571b2edc29216b0c7be89c48727c16b555ad07bd3b1e7b8c858677ba9227b975","client_seed":"1","odds_hash":"cd51af1a1e1ab2010e4f6b4be8448fb91b751995bac085c90328c191d89a4a95","draws":[{"r":768026,"reward":200},{"r":660017,"reward":200}],"times":1,"won":400}', '{user:1:diamonds,house:gifts:diamonds,issuance:gifts:target,issuance:gifts:target}', '{house:gifts:diamonds,user:1:diamonds,user:2:target,user:3:target}', '{400,400,20,20}', 'user:1', '2026-11-22 22:22:25.087491+00', 'e83d9575-b350-40e4-86a0-d93955ac37d2', 'first-2', '7cf997fd6f5a51be6fcac9d8fd206d51ea1f2e95a5b6408161c4462c06ca9944', '6a2acd38ecd68260deaa32f6357df8fc6fb92187d6772f6a741e6a019d8b67ab'),
('29', 'gift-drawn', '1', '{"sender_id":1,"receiver_ids":[2,3],"room_id":1,"decoration_id":3,"kind":"lucky","price":100,"quantity":2,"cost":400,"from_bag":false,"encrypted":false,"receiver_percent":10,"room_percent":0,"owner_percent":0,"trophy_points":0,"chain":"1-1","k":2,"link":"44b32bc26ab1dcf2f7cb409ecaa6f42ddf99c4fefcfc062af60a4788a0178e1d","client_seed":"1","odds_hash":"cd51af1a1e1ab2010e4f6b4be8448fb91b751995bac085c90328c191d89a4a95","draws":[{"r":534249,"reward":0},{"r":893827,"reward":400}],"times":2,"won":800}', '{user:1:diamonds,house:gifts:diamonds,issuance:gifts:target,issuance:gifts:target}', '{house:gifts:diamonds,user:1:diamonds,user:2:target,user:3:target}', '{400,400,20,20}', 'user:1', '2026-11-22 22:22:25.148723+00', 'dcbfaa97-68e4-4b07-bb15-0753fe4fb04a', 'first-3', 'ce084efbe9d9f29f2bbbc049051c1c7e6b23d96f39ee77d4da2a807f8384a67f', '072d00e693a9ccedd270a49b28a40bc4cfeb2e66081319b3c60af9569be5a432'),
('3', 'user-defined', '1', '{"user_id":2,"charging_agent":0,"allow_receive_withdraw_requests":0,"business_manager":0,"agency_countries":[]}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo users', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '802a5e7926ad7f8d47ab809510a4b81675763cb3ba10f3c6cbe1ec1954a9506f'),
('30', 'gift-drawn', '1', '{"sender_id":1,"receiver_ids":[2,3],"room_id":1,"decoration_id":3,"kind":"lucky","price":100,"quantity":2,"cost":400,"from_bag":false,"encrypted":false,"receiver_percent":10,"room_percent":0,"owner_percent":0,"trophy_points":0,"chain":"1-1","k":3,"link":"5402881c2397a9ee42a3bf6e74f41ccea47aed9c9fa2b60450b82b49c97e14db","client_seed":"1","odds_hash":"cd51af1a1e1ab2010e4f6b4be8448fb91b751995bac085c90328c191d89a4a95","draws":[{"r":800946,"reward":200},{"r":333663,"reward":0}],"times":3,"won":1000}', '{user:1:diamonds,house:gifts:diamonds,issuance:gifts:target,issuance:gifts:target}', '{house:gifts:diamonds,user:1:diamonds,user:2:target,user:3:target}', '{400,200,20,20}', 'user:1', '2026-11-22 22:22:25.174204+00', '54b4cddc-aab2-4235-b533-694d5617e7e5', 'first-4', '6bb00f876564f9041765c951f7febc0d40c7de17197b9e74e2ba31317b3476f3', '3d692eac5d3f19c6209041fc0f8ec362ce4414277d4b539dbc8f3d918685bf75'),
('31', 'gift-drawn', '1', '{"sender_id":1,"receiver_ids":[2,3],"room_id":1,"decoration_id":4,"kind":"returnable","price":50,"quantity":2,"cost":200,"from_bag":false,"encrypted":false,"receiver_percent":10,"room_percent":0,"owner_percent":0,"trophy_points":0,"chain":"1-1","k":4,"link":"6f467c08cfcf5b4a5f853c5a8362620379ce79e07eb2e292304c2ed8d08d839f","client_seed":"1","odds_hash":"eef30caf63a9afd203ae669cf4a4980dae398b279760dfc83bda345c3aa6978e","draws":[{"r":22,"reward":50},{"r":50,"reward":50}],"times":1,"won":100}', '{user:1:diamonds,house:gifts:diamonds,issuance:gifts:target,issuance:gifts:target}', '{house:gifts:diamonds,user:1:diamonds,user:2:target,user:3:target}', '{200,100,10,10}', 'user:1', '2026-11-22 22:22:25.194115+00', '792350ba-f7e7-4fce-b38a-c01140a1a36c', 'first-5', '9b0a41f5b5312c80399d5980a14cc2b2406b3230c2143e35e16b44c99bde842d', 'd74622f49cb2bbdac8df6d3d58dee538ac4f03b588b51ca8749d576e6b420166'),
('32', 'bag-items-added', '1', '{"user_id":1,"decoration_id":1,"quantity":5,"reason":"contest"}', '{}', '{}', '{}', 'staff:ann', '2026-11-22 22:22:25.334693+00', '94198793-90b0-4d65-a72c-e003230091b9', 'first-7', 'a432b954e0fda300807f568fc967743c6f95517ce0b1e760dac5a02574344466', '4b914e35e9b0fe8a71e52ceb9e6ee0b16f04d562cf1e1cc9a2d005672f2a14c7'),
('33', 'gift-sent', '1', '{"sender_id":1,"receiver_ids":[2],"room_id":1,"decoration_id":1,"kind":"standard","price":10,"quantity":1,"cost":0,"from_bag":true,"encrypted":false,"receiver_percent":100,"room_percent":3,"owner_percent":0,"trophy_points":10}', '{issuance:gifts:target}', '{user:2:target}', '{10}', 'user:1', '2026-11-22 22:22:25.380099+00', '1a238ebd-b9ce-4236-909a-817d0575cab6', 'first-8', 'c802b41176ef65048b691a541ae79496758715ec045431060758ff7ce7672aa5', '4e67d12f9aabce5c764e7f1c19deaf5546afbf14dc711ab77c48e50eae0f3540'),
('34', 'roulette-created', '1', '{"room_id":1,"game_uid":"g-34-hoet0srdns","creator_id":1,"game_price":100,"max_players":3,"fee_percent":0,"prize":300,"commitment":"2b63edb797956ace7fa851d92d0d8ef246e1588b3dfcdc78233bb2c82af256fe","fairness_key":"040d7be1f3c5b803dfb3808ca0ffa5e2a28dcb4ca3affa671232e57d3532dce9"}', '{}', '{}', '{}', 'user:1', '2026-11-22 22:22:54.433768+00', 'a6a0ed3f-5608-4d23-8cd1-c2264fa96acb', 'first-101', '7f52376123092edc1acd77dbaea2551a883464145e077c1ba1cb74e114d18901', '56570a726e36043992116c6b85185556d6e8d7190944e3b7e28a86a365033781'),
('35', 'roulette-joined', '1', '{"game_id":34,"room_id":1,"user_id":1,"stake":100,"client_seed":""}', '{user:1:coins}', '{game:34:coins}', '{100}', 'user:1', '2026-11-22 22:22:54.433768+00', 'a6a0ed3f-5608-4d23-8cd1-c2264fa96acb', 'first-101', '7f52376123092edc1acd77dbaea2551a883464145e077c1ba1cb74e114d18901', '20feb8dcdeee69f197c86d2cd551c9630ec143ba0d10ee5c4c909d1c99103720'),
('36', 'roulette-joined', '1', '{"game_id":34,"room_id":1,"user_id":2,"stake":100,"client_seed":""}', '{user:2:coins}', '{game:34:coins}', '{100}', 'user:2', '2026-11-22 22:22:54.501161+00', '62bd2608-2d38-4d3e-899b-63224a02d193', 'first-102', '8a03d55d436ba5b9e5560d8f29198f5fb267c07a70c7291feff96c88d1e6570b', 'cdd44e952847ab1377385156f9bc87c710bc0b16e7caf6e6163256da0ca4f24f'),
('37', 'roulette-joined', '1', '{"game_id":34,"room_id":1,"user_id":3,"stake":100,"client_seed":"seed3"}', '{user:3:coins}', '{game:34:coins}', '{100}', 'user:3', '2026-11-22 22:22:54.530119+00', '677df586-fef7-497f-bdca-2441d27e191b', 'first-103', '7aa2990889ceedf2d3d96c44048265e6b8ef6e229940b17f34f43ac274ebec28', '51d9da0e0d1e6e45092ce0dd68d6a4e97d767e2e842a3f5a961e2d7eac16928c'),
('38', 'roulette-finished', '1', '{"game_id":34,"room_id":1,"winner_id":3,"loser_ids":[1,2],"prize":300,"fee":0,"server_seed":"35479f26d9b97f57bd04f93bb84e6017368a80968c9542ea2eb36c405c238015","entries":[{"entry":35,"user_id":1,"stake":100,"client_seed":""},{"entry":36,"user_id":2,"stake":100,"client_seed":""},{"entry":37,"user_id":3,"stake":100,"client_seed":"seed3"}],"entries_hash":"b718478e8439487aa97041da36dea6ebc4775b3f85a46a8decc45e14a96c1461","draw":2}', '{game:34:coins}', '{user:3:coins}', '{300}', 'user:1', '2026-11-22 22:22:54.551034+00', 'eea31c68-4ba1-4504-921e-7ae021ef9870', 'first-104', '0871ad71d4476a87a791fcd26221b55b7bb57a8a7c03ac8690236718c9b0659a', 'd5a6224aa5bd95fc7ab9f5f288f29e8aa3191fbca30f65d7c7428288b63084e3'),
('39', 'roulette-created', '1', '{"room_id":1,"game_uid":"g-39-hoet0su5to","creator_id":2,"game_price":50,"max_players":2,"fee_percent":0,"prize":100,"commitment":"6b2d27bb42ff978a1acb1acf027a1ca20d7cff549bf853e648dfa29ae4b7ac50","fairness_key":"040d7be1f3c5b803dfb3808ca0ffa5e2a28dcb4ca3affa671232e57d3532dce9"}', '{}', '{}', '{}', 'user:2', '2026-11-22 22:22:54.56358+00', 'e73c1545-1deb-40ba-b577-8f56e6bab74b', 'first-105', '08bd6d68e7ca4cc36d76b681fa99734290ca643931feb56c7ea1f79e7a23e178', '68de6099575b9dc27d7b3cdaf856ffb7555972215c09f0fad84330441ac69593'),
('4', 'user-defined', '1', '{"user_id":3,"charging_agent":0,"allow_receive_withdraw_requests":0,"business_manager":0,"agency_countries":[]}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo users', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', 'e0333a2b33a466ee61864a50e78c0480c35adf747628e76ed0274be781e582f5'),
('40', 'roulette-joined', '1', '{"game_id":39,"room_id":1,"user_id":2,"stake":50,"client_seed":""}', '{user:2:coins}', '{game:39:coins}', '{50}', 'user:2', '2026-11-22 22:22:54.56358+00', 'e73c1545-1deb-40ba-b577-8f56e6bab74b', 'first-105', '08bd6d68e7ca4cc36d76b681fa99734290ca643931feb56c7ea1f79e7a23e178', '93e8b6ffd51438ec6701f36c53d6acfb696441cf0f7a5930b782e785b7e973da'),
('41', 'roulette-joined', '1', '{"game_id":39,"room_id":1,"user_id":3,"stake":50,"client_seed":""}', '{user:3:coins}', '{game:39:coins}', '{50}', 'user:3', '2026-11-22 22:22:54.57268+00', '4ed1e6be-ec4a-4a41-b194-c17d4a8c54ad', 'first-106', '001327db6f514986e52e106a8467e9fa90507e1d18a188aa3972adbeff24b866', 'bbf1728444a0cafb18b265d602a596c60445971b838e970c64ba098c0fcb4d7c'),
('42', 'roulette-left', '1', '{"game_id":39,"room_id":1,"user_id":3,"stake":50}', '{game:39:coins}', '{user:3:coins}', '{50}', 'user:3', '2026-11-22 22:22:54.581189+00', 'a9b62993-3ac9-4ee5-b187-ad6dbf7707cc', 'first-107', '856ab021be6007e0391f48a92d174b6e377d2b13b47031a0fc64b00cfe518354', '2513b03f2057035aa9f5532a229d22fda87cddfffec55b16ecb3c4513f4f1e90'),
('43', 'roulette-cancelled', '1', '{"game_id":39,"room_id":1,"player_ids":[2]}', '{game:39:coins}', '{user:2:coins}', '{50}', 'user:2', '2026-11-22 22:22:54.596201+00', '40a8ffac-d145-4dbb-b5bc-4aec1de2e9f1', 'first-108', 'c66812f06fe6fb15b0470e89fba9d654a1257525148ca80a30645e6d96e8f799', '8aa551e0f5736999c09291261aa4f605482df95e8b6717757b948e238893d5aa'),
('44', 'card-activated', '1', '{"card_id":25,"user_id":1,"privilege_package_id":3,"rank":3,"valid_days":30}', '{}', '{}', '{}', 'user:1', '2026-11-22 22:22:54.624401+00', '269dec34-69bd-4cfe-ab96-7a589ac7bb98', 'first-109', '303fd1b2e79068c534933199100c468d67271441d574607eaeef244ee6fb85d0', '9fe8761117e0268ea8cff10d3d99a2edfd7922e09c10b2edf0e89b7681354783'),
('45', 'privilege-days-added', '1', '{"user_id":1,"card_id":25,"days":30,"valid_until":1797978174,"percent":100,"privilege_package_id":3,"rank":3}', '{}', '{}', '{}', 'user:1', '2026-11-22 22:22:54.624401+00', '269dec34-69bd-4cfe-ab96-7a589ac7bb98', 'first-109', '303fd1b2e79068c534933199100c468d67271441d574607eaeef244ee6fb85d0', '93949b559d899414fece56b669e8985714335bad5c16bd5472a0bd19acf1aa6d'),
('46', 'card-moved', '1', '{"card_id":24,"privilege_package_id":2,"from_user_id":1,"to_user_id":2}', '{}', '{}', '{}', 'user:1', '2026-11-22 22:22:54.642684+00', '9078399c-d92e-43f7-a129-4ffc189835f0', 'first-110', 'fbf0f43ca1228632dc165861722ea4c0c92b8cf7b03549a20bbcf69004795ce0', '4cc0db0a7cf6d2a49cf78e8696f4e5b80375f0d52f0609eb386b75f2cd898562'),
('47', 'withdrawal-requested', '1', '{"type":"gold_agent","user_id":1,"target_id":4,"beneficiary_id":2,"country_id":1,"wallet":"dollars","amount":2050,"diamonds_per_dollar":10500,"details":"91c6629e-385a-43ea-a042-931af0947da2"}', '{}', '{}', '{}', 'user:1', '2026-11-22 22:23:21.125821+00', 'f8fad415-8004-4437-87e1-31692950b8db', 'first-301', 'dda5027918fa52370539cc7688b69ed98b9f2b5e13f11245d1cb1e05280d6d2d', 'dea952ceda8fd3c1853b4779190d468afb57b30c71c41e2875a1e14de65d0731'),
('48', 'withdrawal-status-changed', '1', '{"withdrawal_id":47,"user_id":1,"target_id":4,"wallet":"dollars","amount":2050,"from":"pending","to":"approved","note":null}', '{user:1:dollars}', '{withdrawal:47:dollars}', '{2050}', 'staff:ann', '2026-11-22 22:23:21.264944+00', '271185c7-10ad-4f79-a1a6-9582fa35106a', 'first-302', '72fe7ee871cb438706f22d312c855552ab7d0d0aeeaa81840f5497de01056e15', 'b247735ee3bd0dc37100ce3237ba4dfdb4764699a02be934be8a0aa01d65f850'),
('49', 'withdrawal-status-changed', '1', '{"withdrawal_id":47,"user_id":1,"target_id":4,"wallet":"dollars","amount":2050,"from":"approved","to":"transferred","note":null}', '{withdrawal:47:dollars}', '{settled:4:dollars}', '{2050}', 'staff:ann', '2026-11-22 22:23:21.335647+00', 'be3bc1f5-082f-4bab-85c3-0e83788a6c05', 'first-303', 'f721af3b81d936d4d0aa9f73ff68ee752ed7090b3f9560e44415fb3cd3f65bef', '58beec8ba513bbd839bd941141ea5747660c6057e6053997b5a4b7df828b48a9'),
('5', 'user-defined', '1', '{"user_id":4,"charging_agent":1,"allow_receive_withdraw_requests":1,"business_manager":0,"agency_countries":[{"country_id":1,"diamonds_per_dollar":10500},{"country_id":2,"diamonds_per_dollar":10200}]}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo users', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '7c79646375b04be8e2d13ca7b11ceb4003df79fc60a0d32173216aefc887d878'),
('50', 'withdrawal-requested', '1', '{"type":"cash","user_id":1,"target_id":5,"beneficiary_id":null,"country_id":1,"wallet":"dollars","amount":1250,"diamonds_per_dollar":null,"details":"5b94dc83-c06e-40c9-8880-929eafb65ea0"}', '{}', '{}', '{}', 'user:1', '2026-11-22 22:23:21.369405+00', '6f536dc4-8222-4be3-a06d-3d39e588e0db', 'first-304', 'b1d1d4d3858f7a1cad5115f787226df3ba991e020686279dd0c386a6fa234573', 'f3febd639568e2d3f10613153877ec70dd68048efcc33dffb2af455ba5348eef'),
('51', 'instant-transfer-made', '1', '{"user_id":4,"receiver_id":2,"wallet":"agent_dollars","amount":100,"rate":10000,"diamonds":10000}', '{user:4:agent_dollars,issuance:exchange:diamonds}', '{house:exchange:agent_dollars,user:2:diamonds}', '{100,10000}', 'user:4', '2026-11-22 22:23:21.411525+00', '153d4456-3b5c-40b2-85e8-8001c8cadbdf', 'first-305', '48d786a10940d5caa4a56c58a55d7e575081c989379f339a62fe91b451fbd07b', '21533e6bcfdd41757d31345ebe83cb6b0e3a98b9df1929258443f91eaf7fbd6a'),
('52', 'salary-deposited', '1', '{"period":"2026-10","user_id":2,"dollars":3025,"agent_dollars":0,"target":0}', '{issuance:salary:dollars}', '{user:2:dollars}', '{3025}', 'staff:ann', '2026-11-22 22:23:21.427628+00', '5ca9c9e7-17e0-44f3-a25f-97af5f8fe106', 'first-306', 'e6b295981ef77390015d0fa8898d9ba68b2f5c5d9f2671cef38b86eecb4db39e', 'a913682bbb0757b2838de14dbbad748c0b9b2b0dbf781d071aa70b5e445c0abf'),
('53', 'salary-deposited', '1', '{"period":"2026-10","user_id":3,"dollars":1000,"agent_dollars":0,"target":5}', '{issuance:salary:dollars,user:3:target}', '{user:3:dollars,house:salary:target}', '{1000,5}', 'staff:ann', '2026-11-22 22:23:21.427628+00', '5ca9c9e7-17e0-44f3-a25f-97af5f8fe106', 'first-306', 'e6b295981ef77390015d0fa8898d9ba68b2f5c5d9f2671cef38b86eecb4db39e', '50606fecf4ff1bcedea9b05beea23a31035fd1cc743d2c97b968cb9cba57f209'),
('54', 'balance-credited', '1', '{"reason":"contest"}', '{issuance:operator:coins}', '{user:3:coins}', '{70}', 'staff:ann', '2026-11-22 22:23:21.46225+00', '4b3e11dc-d901-4910-9ca1-3412c69f60a9', 'first-307', '89879e3c55aa6caf66d7e829b560cd3da02d313c63e95187afee72049635e223', '9d2c878745c252ac291529b3b0d3fc559d87bc92aad98a65a9b5e8f46ed5314c'),
('55', 'balance-debited', '1', '{"reason":"mistake"}', '{user:3:coins}', '{issuance:operator:coins}', '{20}', 'staff:ann', '2026-11-22 22:23:21.48725+00', '392aea16-5055-48e2-917a-6fddba63daba', 'first-308', '79ca18aa086c15760b12d9dd99703ef5eaa0ca47cfabee96ea16f51d4e234d50', 'b01f4b04fe9de1269d4184334435ab36175fa46eeae2a19c6b91ba7d60daa3a0'),
('56', 'release-defined', '1', '{"client_type":"android","version":"2.0","minimum_version":"1.0","store_link":"https://store.example/app","title":{"en":"Update available","ar":"يتوفر تحديث"},"message":{"en":"Please install the new version.","ar":"يرجى تثبيت الإصدار الجديد."}}', '{}', '{}', '{}', 'staff:ann', '2026-11-22 22:23:21.504707+00', '9b7324f2-0195-4787-a9e7-0cbbc9e1c4ba', 'first-309', '8c83d374bd65d18f0fe62d04fa2fb328251b8535061796a09880b11dcf93e198', '7cd9c07a405ee41e89d0be92902db143ae3d5ea99108fbb046d52d99895da300'),
('57', 'app-mode-set', '1', '{"maintenance":true,"title":{"en":"Maintenance","ar":"صيانة"},"message":{"en":"Back at noon.","ar":"سنعود قريبًا."},"block_unidentified":null}', '{}', '{}', '{}', 'staff:ann', '2026-11-22 22:23:21.533776+00', '1604684f-62e6-47d5-9c09-8c1d359388da', 'first-310', '5be44a28b431daa27dd253af70f186cd99bea36dd9d59f507cdf292cd76ceaa9', 'aaaba9f6accadddc7a9138140f054fc7cfd8619de0fd4511382dd4127946a22c'),
('58', 'app-mode-set', '1', '{"maintenance":false,"title":{"en":"Maintenance","ar":"صيانة"},"message":{"en":"Back at noon.","ar":"سنعود قريبًا."},"block_unidentified":null}', '{}', '{}', '{}', 'staff:ann', '2026-11-22 22:23:21.577635+00', '9badf9f1-7fec-4388-b87a-ef18b3357fe9', 'first-311', 'fd846821d5bb264dd712107e445711099071866678c62dd2cc5de5439c683994', '2106cd56f21c113f51596568294ae469c8288ffec9e1e2fa62d26ed39ba5f5a1'),
('59', 'sessions-revoked', '1', '{"user_id":5,"before":1795386201}', '{}', '{}', '{}', 'staff:ann', '2026-11-22 22:23:21.694178+00', '5c943ad1-f729-451e-a2a3-5d091e7a1abd', 'first-314', 'bf45d9eaea1c517aac5a46512102abd7f09cb966f11f41035bb17542f714f576', 'cc7764e21dcd575bff47acb8ae24f78b2df9771f62ca2737eac2834c1469d7f2'),
('6', 'user-defined', '1', '{"user_id":5,"charging_agent":0,"allow_receive_withdraw_requests":0,"business_manager":1,"agency_countries":[]}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo users', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', 'b28e303e1415c4f1ab310e08599cbde4e9b2bea2dc8e998e7d45dab045676a4f'),
('60', 'staff-sessions-revoked', '1', '{"sub":"bob","before":1795386201}', '{}', '{}', '{}', 'staff:ann', '2026-11-22 22:23:21.71794+00', '42ebd291-688f-4c45-b0d7-8c452743d964', 'first-315', 'd7759f0103cc4e6c1e64f11368d6bb2258015009d255076a64abd518ef77fb65', '6f862eef78060bbc0bc05c2962dd327b0aaee3445ab1cdcbb0415606e46478dc'),
('7', 'room-defined', '1', '{"room_id":1,"owner_id":3}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo room', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '7cc01c2867cc8742c20ae8896c1f3d4ce6d3e4fd2dce099bacac6b648bdfa345'),
('8', 'decoration-defined', '1', '{"decoration_id":1,"name":"Rose","kind":"standard","price":10,"image_path":"gifts/rose.png","odds":[],"odds_hash":null}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo gift 1', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '31af2b990b19d470dd8d659d569bfd6ea8b12f7adb6d156939730caae0fb3b5b'),
('9', 'decoration-defined', '1', '{"decoration_id":2,"name":"Sports car","kind":"standard","price":5000,"image_path":"gifts/sports-car.png","odds":[],"odds_hash":null}', '{}', '{}', '{}', 'system', '2026-11-22 22:22:20.018112+00', 'demo', 'demo gift 2', '4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865', '860e128bd330956a6ecbb703ec22af97bebf5e184d319bc5b7e5b973ffb7df37');
alter table ledger_events enable trigger user;

alter table ledger_head disable trigger user;
delete from ledger_head;
insert into ledger_head (one, "position", hash, at, batch) values
('true', '60', '6f862eef78060bbc0bc05c2962dd327b0aaee3445ab1cdcbb0415606e46478dc', '2026-11-22 22:23:21.71794+00', 'c5df9de4-f0b6-4c55-9970-fb8b464ade2f');
alter table ledger_head enable trigger user;

alter table live_announcements disable trigger user;
delete from live_announcements;
insert into live_announcements (channel, "position", prev, at) values
('room:1', '28', NULL, '2026-11-22 22:22:25.087+00'),
('room:1', '29', '28', '2026-11-22 22:22:25.148+00'),
('room:1', '30', '29', '2026-11-22 22:22:25.174+00'),
('room:1', '31', '30', '2026-11-22 22:22:25.194+00'),
('room:1', '34', '31', '2026-11-22 22:22:54.433+00'),
('room:1', '35', '34', '2026-11-22 22:22:54.433+00'),
('room:1', '36', '35', '2026-11-22 22:22:54.501+00'),
('room:1', '37', '36', '2026-11-22 22:22:54.53+00'),
('room:1', '38', '37', '2026-11-22 22:22:54.551+00'),
('room:1', '39', '38', '2026-11-22 22:22:54.563+00'),
('room:1', '40', '39', '2026-11-22 22:22:54.563+00'),
('room:1', '41', '40', '2026-11-22 22:22:54.572+00'),
('room:1', '42', '41', '2026-11-22 22:22:54.581+00'),
('room:1', '43', '42', '2026-11-22 22:22:54.596+00'),
('user:1', '47', NULL, '2026-11-22 22:23:21.125+00'),
('user:1', '48', '47', '2026-11-22 22:23:21.264+00'),
('user:1', '49', '48', '2026-11-22 22:23:21.335+00'),
('user:1', '50', '49', '2026-11-22 22:23:21.369+00'),
('user:2', '46', NULL, '2026-11-22 22:22:54.642+00'),
('user:4', '47', NULL, '2026-11-22 22:23:21.125+00'),
('user:4', '48', '47', '2026-11-22 22:23:21.264+00'),
('user:4', '49', '48', '2026-11-22 22:23:21.335+00'),
('user:5', '50', NULL, '2026-11-22 22:23:21.369+00');
alter table live_announcements enable trigger user;

alter table live_channels disable trigger user;
delete from live_channels;
insert into live_channels (channel, last) values
('room:1', '43'),
('user:1', '50'),
('user:2', '46'),
('user:4', '49'),
('user:5', '50');
alter table live_channels enable trigger user;

alter table lucky_chains disable trigger user;
delete from lucky_chains;
insert into lucky_chains (chain, user_id, commitment, fairness_key) values
('1-1', '1', 'c17cd37a04a96cec320905f7bdd1bb5fd15a08a1eeaa406d4a60f2f3277f9d24', '040d7be1f3c5b803dfb3808ca0ffa5e2a28dcb4ca3affa671232e57d3532dce9'),
('1-2', '1', '4f2f7bc09661ba2ededf80afc4fbed5d7736f96c523abac11c0dc615e1dad32f', '040d7be1f3c5b803dfb3808ca0ffa5e2a28dcb4ca3affa671232e57d3532dce9');
alter table lucky_chains enable trigger user;

alter table lucky_progress disable trigger user;
delete from lucky_progress;
insert into lucky_progress (user_id, number, used, client_seed, commitment, next_commitment, filling) values
('1', '1', '4', '1', 'c17cd37a04a96cec320905f7bdd1bb5fd15a08a1eeaa406d4a60f2f3277f9d24', '4f2f7bc09661ba2ededf80afc4fbed5d7736f96c523abac11c0dc615e1dad32f', NULL);
alter table lucky_progress enable trigger user;

alter table migration_checksums disable trigger user;
delete from migration_checksums;
insert into migration_checksums (name, sha256) values
('0001-ledger', '21b2ffb2d72fb0f555f689aac3c8b73e933048cb546b7eb7576e890c55cb7bda'),
('0002-people-and-rooms', '3fbc1dffa36c73c7913580aeb3a5411d009cd2a1af31460f61daaac698f62204'),
('0003-gifts', '53ff39b5360a0012c1ba08a9244f49d06d65b42e8b9bc50deebfa8aa5730d16b'),
('0004-privilege', '44c67f30da9c0cb8578458ece90d37624c65c7a25f5063fcbd109381a4f87464'),
('0005-roulette', 'f7cb32b95180c81c83dcc19233cb9c31cac0f0656d9e26ad0ac762fbe5faa978'),
('0006-room-on-pages', 'c18904118e86c6d7186bc44ab632c3c7e94ddc5dba87e53812c59cbb0b793353'),
('0007-push', 'a44be6217ac8c037d8808b55386c0f9f594cb927ab376de7fa9df4f53075dac6'),
('0008-head-batch', '076fed0c4630e1bf8d92d1e6827088ee4714c4d55ba5e1a5acc78aa38fe1d574'),
('0009-vault', '1e4f6fb15e20508cb6677f0c1c836de249a8d93a5a7d035e2fb9261f655f04a3'),
('0010-app-status', '015a2bda09e8d2e5129616ae0a4afab4c7d0136c9f9828ff98c4b89353a2527b'),
('0011-live', '5dac759dbf1adff544a8e8264691361193029e906184d38899dbd4457d304b32'),
('0013-agency', 'ae3a907d3c0bafcbdf8889782ea3367ff1392468edc3e59167ce26ef1ce7efea'),
('0014-forgotten-people', 'f2dbdaedc709c0abd6970b30c674c6046caa292e0e9ae273fa863c2ad7212236'),
('0015-blanked-replies', '48f76cfa4dafdcdfe98cdea3005cb608b57575534098945909b76b33db6c2844'),
('0016-charging-agents', '00d32972ef963862c9ce6dcd8e0db7be7aa7ea65fd64afb39c35a513d97247a9'),
('0016-room-member-counts', '8863e3e74055021ef933bd9a30f3c7f53685ad3ada61d9fb9fd76c3079d8e1ae'),
('0017-empty-games-and-device-lists', '20f9f1ce412ea98d35882a94c8c0d1dafd1c528017239a78c71ced47d60c5c14'),
('0018-staff-sessions', 'e7917cf9c4dd4bb2c6118cdbd5767a9e81de8fa077759f4ddc868aeb637bf684'),
('0019-card-counts', '9140c30c37017e650477b9f793791b287c46a0c8284235ed7ef7e1ed0dd7eb27'),
('0020-gift-counts', 'd74418710c4c5043a8a47024ea97972bd7f68b1af91a9c4a5cc4d11ae9d4ab53');
alter table migration_checksums enable trigger user;

alter table odds_tables disable trigger user;
delete from odds_tables;
insert into odds_tables (odds_hash, decoration_id, odds) values
('cd51af1a1e1ab2010e4f6b4be8448fb91b751995bac085c90328c191d89a4a95', '3', '[{"multiplier":0,"weight":640000},{"multiplier":10000,"weight":240000},{"multiplier":20000,"weight":95000},{"multiplier":50000,"weight":20000},{"multiplier":200000,"weight":4900},{"multiplier":7200000,"weight":100}]'),
('eef30caf63a9afd203ae669cf4a4980dae398b279760dfc83bda345c3aa6978e', '4', '[{"multiplier":5000,"weight":60},{"multiplier":10000,"weight":40}]');
alter table odds_tables enable trigger user;

alter table privilege_cards disable trigger user;
delete from privilege_cards;
insert into privilege_cards (card_id, owner_id, privilege_package_id, valid_days, activated, created_at, entered) values
('23', '1', '1', '7', 'false', '2026-11-22 22:22:20.018112+00', '23'),
('24', '2', '2', '30', 'false', '2026-11-22 22:22:54.642684+00', '46'),
('25', '1', '3', '30', 'true', '2026-11-22 22:22:20.018112+00', '25');
alter table privilege_cards enable trigger user;

alter table privilege_packages disable trigger user;
delete from privilege_packages;
insert into privilege_packages (privilege_package_id, name, rank, valid_days, icon_path, created_at) values
('1', 'Bronze', '1', '7', 'privileges/bronze.png', '2026-11-22 22:22:20.018112+00'),
('2', 'Silver', '2', '30', 'privileges/silver.png', '2026-11-22 22:22:20.018112+00'),
('3', 'Gold', '3', '30', 'privileges/gold.png', '2026-11-22 22:22:20.018112+00');
alter table privilege_packages enable trigger user;

alter table privileges disable trigger user;
delete from privileges;
insert into privileges (user_id, privilege_package_id, rank, valid_until) values
('1', '3', '3', '1797978174');
alter table privileges enable trigger user;

alter table replies disable trigger user;
delete from replies;
insert into replies (actor, idempotency_key, request_hash, status, body, at) values
('staff:ann', 'first-302', '25c6a5ed3249a877b1325aaedda8b68155d725b951b04bb77d07568cb298835b', '200', '{"data":{"id":47,"type":"gold_agent","status":"approved","amount_in_dollars":20.5,"agent_benefit":false,"user":{"id":1,"name":"Amina","uid":"amina","avatar":"avatars/amina.png"},"target_user":{"id":4,"name":"Dalia","uid":"dalia","avatar":"avatars/dalia.png"},"beneficiary_user":{"id":2,"name":"Badr","uid":"badr","avatar":"avatars/badr.png"},"business_manager":null,"country":{"id":1,"name":"Egypt"},"diamonds_per_dollar":10500,"created_at":"2026-11-22T22:23:21.125821Z","updated_at":"2026-11-22T22:23:21.264944Z","sealed":{"details":"91c6629e-385a-43ea-a042-931af0947da2","note":null}}}', '2026-11-22 22:23:21.264944+00'),
('staff:ann', 'first-303', 'ef849d2bfd7b689e210aa08370d586d7136ae07981165090e09843105a87523f', '200', '{"data":{"id":47,"type":"gold_agent","status":"transferred","amount_in_dollars":20.5,"agent_benefit":false,"user":{"id":1,"name":"Amina","uid":"amina","avatar":"avatars/amina.png"},"target_user":{"id":4,"name":"Dalia","uid":"dalia","avatar":"avatars/dalia.png"},"beneficiary_user":{"id":2,"name":"Badr","uid":"badr","avatar":"avatars/badr.png"},"business_manager":null,"country":{"id":1,"name":"Egypt"},"diamonds_per_dollar":10500,"created_at":"2026-11-22T22:23:21.125821Z","updated_at":"2026-11-22T22:23:21.335647Z","sealed":{"details":"91c6629e-385a-43ea-a042-931af0947da2","note":null}}}', '2026-11-22 22:23:21.335647+00'),
('staff:ann', 'first-306', 'cf84ed8a8b6961d4f3da29bd9149d71a406475fc69bc8209b84d38b3872d196c', '201', '{"data":{"period":"2026-10","paid":[{"id":52,"user_id":2,"dollars":30.25,"agent_dollars":0,"target":0},{"id":53,"user_id":3,"dollars":10,"agent_dollars":0,"target":5}],"already_paid":[],"refused":[]}}', '2026-11-22 22:23:21.427628+00'),
('staff:ann', 'first-307', '0fe707192e35d7a2309007653685b1e3a81cb439392dfd40b012368faffd4ccc', '201', '{"data":{"id":54,"account":"user:3:coins","currency":"coins","amount":70,"balance":50270,"reason":"contest","created_at":"2026-11-22T22:23:21.462250Z"}}', '2026-11-22 22:23:21.46225+00'),
('staff:ann', 'first-308', '71c71bc254d4b8047e27e469ae4bb3b4bf3436f7da604a2ba10e0e8adc866eee', '201', '{"data":{"id":55,"account":"user:3:coins","currency":"coins","amount":20,"balance":50250,"reason":"mistake","created_at":"2026-11-22T22:23:21.487250Z"}}', '2026-11-22 22:23:21.48725+00'),
('staff:ann', 'first-309', 'b32ed2ce59989ccbd93d51d0af4160c126b1dcf9f1aa11b9610ae014c062d0bf', '200', '{"data":{"client_type":"android","version":"2.0","minimum_version":"1.0","store_link":"https://store.example/app","title":{"en":"Update available","ar":"يتوفر تحديث"},"message":{"en":"Please install the new version.","ar":"يرجى تثبيت الإصدار الجديد."},"created_at":"2026-11-22T22:23:21.504707Z","updated_at":"2026-11-22T22:23:21.504707Z"}}', '2026-11-22 22:23:21.504707+00'),
('staff:ann', 'first-310', '7b9670240ad03312806ff1b407089ed15ddcf15b3902674c7e4b1ff548e9d676', '200', '{"data":{"maintenance":true,"title":{"en":"Maintenance","ar":"صيانة"},"message":{"en":"Back at noon.","ar":"سنعود قريبًا."},"block_unidentified":null,"updated_at":"2026-11-22T22:23:21.533776Z"}}', '2026-11-22 22:23:21.533776+00'),
('staff:ann', 'first-311', 'ad9f652eaf5ec9833e5644acfab65fa838e4588369259cdbb03966de328cc267', '200', '{"data":{"maintenance":false,"title":{"en":"Maintenance","ar":"صيانة"},"message":{"en":"Back at noon.","ar":"سنعود قريبًا."},"block_unidentified":null,"updated_at":"2026-11-22T22:23:21.577635Z"}}', '2026-11-22 22:23:21.577635+00'),
('staff:ann', 'first-314', 'acced20493a8ae9e91340990b0bb23f1b6506c056ffb82db53ff14f1cdedb18f', '200', '{"data":{"id":5,"sessions_revoked_before":"2026-11-22T22:23:21.000000Z"}}', '2026-11-22 22:23:21.694178+00'),
('staff:ann', 'first-315', '9ad3e53520b5d7dfac00360d7b1656c16b14c3e89cbeb0e9649b1b65d2390a98', '200', '{"data":{"sub":"bob","sessions_revoked_before":"2026-11-22T22:23:21.000000Z"}}', '2026-11-22 22:23:21.71794+00'),
('staff:ann', 'first-7', '6059af4af3e1a4851d073642ae18737bb8fb46b24654d14bd3e8474017e0e3e2', '201', '{"data":{"user_id":1,"decoration_id":1,"quantity":5}}', '2026-11-22 22:22:25.334693+00'),
('system', 'demo agent_dollars of 4', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo card 1', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo card 2', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo card 3', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo coins of 1', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo coins of 2', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo coins of 3', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo country 1', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo country 2', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo diamonds of 1', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo diamonds of 2', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo diamonds of 3', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo dollars of 1', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo gift 1', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo gift 2', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo gift 3', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo gift 4', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo package 1', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo package 2', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo package 3', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo room', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('system', 'demo users', 'demo', '1', '', '2026-11-22 22:22:20.018112+00'),
('user:1', 'first-1', 'e6a4158ef880385a8fdce344de4cbe7b1625d7ece8db6c1bc467fd613d37db0f', '200', '{"data":{"diamonds":99960,"lucky_result":{"code":1,"data":{"gift_id":1,"gift_price":10,"OrderList":[{"order_id":"26-0","is_win":0,"reward_num":0},{"order_id":"26-1","is_win":0,"reward_num":0}]}}}}', '2026-11-22 22:22:25.020939+00'),
('user:1', 'first-101', '8317ef3498e2d13e42102b7f43af4b1d6a0bf70991ab59e48566f20d2d33b313', '201', '{"data":{"id":34,"uid":"g-34-hoet0srdns","room_uid":"R1","status":"open","game_price":100,"prize":300,"max_players":3,"players_count":1,"pot":100,"players":[{"id":1,"name":"Amina","avatar":"avatars/amina.png","uid":"amina"}],"from":{"id":1,"name":"Amina","avatar":"avatars/amina.png","uid":"amina"},"winner":null,"fairness":{"algorithm":"rr1","game_uid":"g-34-hoet0srdns","commitment":"2b63edb797956ace7fa851d92d0d8ef246e1588b3dfcdc78233bb2c82af256fe"},"created_at":"2026-11-22 22:22:54","finished_at":null}}', '2026-11-22 22:22:54.433768+00'),
('user:1', 'first-104', '5266ea11e5aae81860e58af1e7afb9cd4ff8a1e2b8d5884505d0461129b22cb9', '200', '{"data":{"id":34,"uid":"g-34-hoet0srdns","room_uid":"R1","status":"finished","game_price":100,"prize":300,"max_players":3,"players_count":3,"pot":300,"players":[{"id":1,"name":"Amina","avatar":"avatars/amina.png","uid":"amina"},{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"},{"id":3,"name":"Carmen","avatar":"avatars/carmen.png","uid":"carmen"}],"from":{"id":1,"name":"Amina","avatar":"avatars/amina.png","uid":"amina"},"winner":{"id":3,"name":"Carmen","avatar":"avatars/carmen.png","uid":"carmen"},"fairness":{"algorithm":"rr1","game_uid":"g-34-hoet0srdns","commitment":"2b63edb797956ace7fa851d92d0d8ef246e1588b3dfcdc78233bb2c82af256fe","server_seed":"35479f26d9b97f57bd04f93bb84e6017368a80968c9542ea2eb36c405c238015","entries":[{"entry":35,"user_id":1,"stake":100,"client_seed":""},{"entry":36,"user_id":2,"stake":100,"client_seed":""},{"entry":37,"user_id":3,"stake":100,"client_seed":"seed3"}],"entries_hash":"b718478e8439487aa97041da36dea6ebc4775b3f85a46a8decc45e14a96c1461","draw":2},"created_at":"2026-11-22 22:22:54","finished_at":"2026-11-22T22:22:54.551034Z","losers":[{"id":1,"name":"Amina","avatar":"avatars/amina.png","uid":"amina"},{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"}]}}', '2026-11-22 22:22:54.551034+00'),
('user:1', 'first-109', 'e64434e2922389f3e3b9a1c1f62aed88bc09b27bf1e357b069ba3f0c7c65e28b', '200', '{"data":{"days_added":30,"valid_until":"2026-12-22 22:22:54"},"meta":{"message":"The privilege is active."}}', '2026-11-22 22:22:54.624401+00'),
('user:1', 'first-110', 'bbd1dd5830524e4d93e04da50ed717941c6c8b98f4d9379580fb06511a8727c3', '200', '{"meta":{"message":"The privilege was sent."}}', '2026-11-22 22:22:54.642684+00'),
('user:1', 'first-2', '1cb8a2351a16bfefaca1d79213d9dec8bffcc20fb5a7e3f3c1ffbbacee0c33cc', '200', '{"data":{"diamonds":99960,"lucky_result":{"code":0,"data":{"gift_id":3,"gift_price":100,"OrderList":[{"order_id":"28-0","is_win":1,"reward_num":200},{"order_id":"28-1","is_win":1,"reward_num":200}]}}}}', '2026-11-22 22:22:25.087491+00'),
('user:1', 'first-3', '1cb8a2351a16bfefaca1d79213d9dec8bffcc20fb5a7e3f3c1ffbbacee0c33cc', '200', '{"data":{"diamonds":99960,"lucky_result":{"code":0,"data":{"gift_id":3,"gift_price":100,"OrderList":[{"order_id":"29-0","is_win":0,"reward_num":0},{"order_id":"29-1","is_win":1,"reward_num":400}]}}}}', '2026-11-22 22:22:25.148723+00'),
('user:1', 'first-301', 'e1e0ff55f4538d374245ef8ca38c39bb8f9eb98c749b3e141fcf3057069c72af', '201', '{"data":{"id":47,"type":"gold_agent","status":"pending","amount_in_dollars":20.5,"agent_benefit":false,"user":{"id":1,"name":"Amina","uid":"amina","avatar":"avatars/amina.png"},"target_user":{"id":4,"name":"Dalia","uid":"dalia","avatar":"avatars/dalia.png"},"beneficiary_user":{"id":2,"name":"Badr","uid":"badr","avatar":"avatars/badr.png"},"business_manager":null,"country":{"id":1,"name":"Egypt"},"diamonds_per_dollar":10500,"created_at":"2026-11-22T22:23:21.125821Z","updated_at":"2026-11-22T22:23:21.125821Z","sealed":{"details":"91c6629e-385a-43ea-a042-931af0947da2","note":null}}}', '2026-11-22 22:23:21.125821+00'),
('user:1', 'first-304', 'd3cb616c6004f84609dbad55c5f971fa50520d4b8edac159a16db1ed2cf08483', '201', '{"data":{"id":50,"type":"cash","status":"pending","amount_in_dollars":12.5,"agent_benefit":false,"user":{"id":1,"name":"Amina","uid":"amina","avatar":"avatars/amina.png"},"target_user":null,"beneficiary_user":null,"business_manager":{"id":5,"name":"Emil","uid":"emil","avatar":"avatars/emil.png"},"country":{"id":1,"name":"Egypt"},"diamonds_per_dollar":null,"created_at":"2026-11-22T22:23:21.369405Z","updated_at":"2026-11-22T22:23:21.369405Z","sealed":{"details":"5b94dc83-c06e-40c9-8880-929eafb65ea0","note":null}}}', '2026-11-22 22:23:21.369405+00'),
('user:1', 'first-4', '1cb8a2351a16bfefaca1d79213d9dec8bffcc20fb5a7e3f3c1ffbbacee0c33cc', '200', '{"data":{"diamonds":99760,"lucky_result":{"code":0,"data":{"gift_id":3,"gift_price":100,"OrderList":[{"order_id":"30-0","is_win":1,"reward_num":200},{"order_id":"30-1","is_win":0,"reward_num":0}]}}}}', '2026-11-22 22:22:25.174204+00'),
('user:1', 'first-5', '767ee7f5b3ba38b7a05c35bc49d511a05cc00f4b97f895022e0b4c339c91ad99', '200', '{"data":{"diamonds":99660,"lucky_result":{"code":0,"data":{"gift_id":4,"gift_price":50,"OrderList":[{"order_id":"31-0","is_win":1,"reward_num":50},{"order_id":"31-1","is_win":1,"reward_num":50}]}}}}', '2026-11-22 22:22:25.194115+00'),
('user:1', 'first-8', '2c6cf8ab8cccf5703ecd8199bd48b67694de96171b9e3d290459c1d3efa71984', '200', '{"data":{"diamonds":99660,"lucky_result":{"code":1,"data":{"gift_id":1,"gift_price":10,"OrderList":[{"order_id":"33-0","is_win":0,"reward_num":0}]}}}}', '2026-11-22 22:22:25.380099+00'),
('user:2', 'first-102', 'd827aa4e02ade5e07f06dc092c92129622376248749363ad3b22f657e657e002', '200', '{"data":{"id":34,"uid":"g-34-hoet0srdns","room_uid":"R1","status":"open","game_price":100,"prize":300,"max_players":3,"players_count":2,"pot":200,"players":[{"id":1,"name":"Amina","avatar":"avatars/amina.png","uid":"amina"},{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"}],"from":{"id":1,"name":"Amina","avatar":"avatars/amina.png","uid":"amina"},"winner":null,"fairness":{"algorithm":"rr1","game_uid":"g-34-hoet0srdns","commitment":"2b63edb797956ace7fa851d92d0d8ef246e1588b3dfcdc78233bb2c82af256fe"},"created_at":"2026-11-22 22:22:54","finished_at":null}}', '2026-11-22 22:22:54.501161+00'),
('user:2', 'first-105', '5f33ccfc59c02fc4808e7f33dd758306932d4b75e309253ee92b0d32eca15a01', '201', '{"data":{"id":39,"uid":"g-39-hoet0su5to","room_uid":"R1","status":"open","game_price":50,"prize":100,"max_players":2,"players_count":1,"pot":50,"players":[{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"}],"from":{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"},"winner":null,"fairness":{"algorithm":"rr1","game_uid":"g-39-hoet0su5to","commitment":"6b2d27bb42ff978a1acb1acf027a1ca20d7cff549bf853e648dfa29ae4b7ac50"},"created_at":"2026-11-22 22:22:54","finished_at":null}}', '2026-11-22 22:22:54.56358+00'),
('user:2', 'first-108', 'b0ca987f0db23c38df583d4e83fe1f404e9f75da1ecc15245ee24c29f6603a28', '200', '{"meta":{"message":"The game is cancelled and everyone is paid back."}}', '2026-11-22 22:22:54.596201+00'),
('user:2', 'first-313', '8879c763a3f8df95ba88989da349a90b0478a54334caf642fcb13581a7b0af1e', '201', '{"data":{"platform":"android","created_at":"2026-11-22T22:23:21.664971Z"}}', '2026-11-22 22:23:21.664971+00'),
('user:3', 'first-103', '4c4bc9c498c644e5dcc289c3c8adc9b3fd45785326c5f161cc7e5d21a040cdd0', '200', '{"data":{"id":34,"uid":"g-34-hoet0srdns","room_uid":"R1","status":"open","game_price":100,"prize":300,"max_players":3,"players_count":3,"pot":300,"players":[{"id":1,"name":"Amina","avatar":"avatars/amina.png","uid":"amina"},{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"},{"id":3,"name":"Carmen","avatar":"avatars/carmen.png","uid":"carmen"}],"from":{"id":1,"name":"Amina","avatar":"avatars/amina.png","uid":"amina"},"winner":null,"fairness":{"algorithm":"rr1","game_uid":"g-34-hoet0srdns","commitment":"2b63edb797956ace7fa851d92d0d8ef246e1588b3dfcdc78233bb2c82af256fe"},"created_at":"2026-11-22 22:22:54","finished_at":null}}', '2026-11-22 22:22:54.530119+00'),
('user:3', 'first-106', '06c1614124e77e5c6a01ecc7f0e3b739fbe1a50cf4692a50d6b5e9da7d7d2c21', '200', '{"data":{"id":39,"uid":"g-39-hoet0su5to","room_uid":"R1","status":"open","game_price":50,"prize":100,"max_players":2,"players_count":2,"pot":100,"players":[{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"},{"id":3,"name":"Carmen","avatar":"avatars/carmen.png","uid":"carmen"}],"from":{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"},"winner":null,"fairness":{"algorithm":"rr1","game_uid":"g-39-hoet0su5to","commitment":"6b2d27bb42ff978a1acb1acf027a1ca20d7cff549bf853e648dfa29ae4b7ac50"},"created_at":"2026-11-22 22:22:54","finished_at":null}}', '2026-11-22 22:22:54.57268+00'),
('user:3', 'first-107', '5185f2f4bea959f89acc95e7b84c46b5581efa0609fa2786ea18d2b63dabcd5b', '200', '{"data":{"id":39,"uid":"g-39-hoet0su5to","room_uid":"R1","status":"open","game_price":50,"prize":100,"max_players":2,"players_count":1,"pot":50,"players":[{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"}],"from":{"id":2,"name":"Badr","avatar":"avatars/badr.png","uid":"badr"},"winner":null,"fairness":{"algorithm":"rr1","game_uid":"g-39-hoet0su5to","commitment":"6b2d27bb42ff978a1acb1acf027a1ca20d7cff549bf853e648dfa29ae4b7ac50"},"created_at":"2026-11-22 22:22:54","finished_at":null}}', '2026-11-22 22:22:54.581189+00'),
('user:4', 'first-305', '036d9c73e0c666e2e721493691d9379f57777e9f11bb667f244612db64773f58', '201', '{"data":{"id":51,"status":"approved","dollars":1,"rate":10000,"diamonds":10000,"agent_benefit":true,"user":{"id":4,"name":"Dalia","uid":"dalia","avatar":"avatars/dalia.png"},"receiver":{"id":2,"name":"Badr","uid":"badr","avatar":"avatars/badr.png"},"created_at":"2026-11-22T22:23:21.411525Z"}}', '2026-11-22 22:23:21.411525+00');
alter table replies enable trigger user;

alter table room_member_counts disable trigger user;
delete from room_member_counts;
insert into room_member_counts (room_id, slot, members) values
('1', '0', '3'),
('1', '6', '1');
alter table room_member_counts enable trigger user;

alter table room_members disable trigger user;
delete from room_members;
insert into room_members (room_id, user_id, joined_at) values
('1', '1', '2026-11-22 22:22:19.9849+00'),
('1', '2', '2026-11-22 22:22:19.985111+00'),
('1', '3', '2026-11-22 22:22:19.985124+00'),
('1', '4', '2026-11-22 22:23:21.624308+00');
alter table room_members enable trigger user;

alter table room_profiles disable trigger user;
delete from room_profiles;
insert into room_profiles (room_id, uid, name, cover_url, created_at, updated_at, updated_by) values
('1', 'R1', 'Night lounge', '', '2026-11-22 22:22:20.018112+00', '2026-11-22 22:22:20.018112+00', 'system');
alter table room_profiles enable trigger user;

alter table rooms disable trigger user;
delete from rooms;
insert into rooms (room_id, owner_id, trophy_points, filling) values
('1', '3', '50', NULL);
alter table rooms enable trigger user;

alter table roulette_games disable trigger user;
delete from roulette_games;
insert into roulette_games (game_id, uid, room_id, creator_id, status, game_price, max_players, fee_percent, prize, entries, commitment, winner_id, spin, created_at, ended_at, end_position, empty_since) values
('34', 'g-34-hoet0srdns', '1', '1', 'finished', '100', '3', '0', '300', '[{"entry":35,"user_id":1,"stake":100,"client_seed":""},{"entry":36,"user_id":2,"stake":100,"client_seed":""},{"entry":37,"user_id":3,"stake":100,"client_seed":"seed3"}]', '2b63edb797956ace7fa851d92d0d8ef246e1588b3dfcdc78233bb2c82af256fe', '3', '{"server_seed":"35479f26d9b97f57bd04f93bb84e6017368a80968c9542ea2eb36c405c238015","entries_hash":"b718478e8439487aa97041da36dea6ebc4775b3f85a46a8decc45e14a96c1461","draw":2}', '2026-11-22 22:22:54.433768+00', '2026-11-22 22:22:54.551034+00', '38', NULL),
('39', 'g-39-hoet0su5to', '1', '2', 'cancelled', '50', '2', '0', '100', '[{"entry":40,"user_id":2,"stake":50,"client_seed":""}]', '6b2d27bb42ff978a1acb1acf027a1ca20d7cff549bf853e648dfa29ae4b7ac50', NULL, NULL, '2026-11-22 22:22:54.56358+00', '2026-11-22 22:22:54.596201+00', '43', NULL);
alter table roulette_games enable trigger user;

alter table salary_deposits disable trigger user;
delete from salary_deposits;
insert into salary_deposits (period, user_id, dollars, agent_dollars, target, deposit_id) values
('2026-10', '2', '3025', '0', '0', '52'),
('2026-10', '3', '1000', '0', '5', '53');
alter table salary_deposits enable trigger user;

alter table staff_sessions disable trigger user;
delete from staff_sessions;
insert into staff_sessions (sub, revoked_before) values
('bob', '1795386201');
alter table staff_sessions enable trigger user;

alter table user_profiles disable trigger user;
delete from user_profiles;
insert into user_profiles (user_id, uid, name, avatar, created_at, updated_at, updated_by) values
('1', 'amina', 'Amina', 'avatars/amina.png', '2026-11-22 22:22:20.018112+00', '2026-11-22 22:22:20.018112+00', 'system'),
('2', 'badr', 'Badr', 'avatars/badr.png', '2026-11-22 22:22:20.018112+00', '2026-11-22 22:22:20.018112+00', 'system'),
('3', 'carmen', 'Carmen', 'avatars/carmen.png', '2026-11-22 22:22:20.018112+00', '2026-11-22 22:22:20.018112+00', 'system'),
('4', 'dalia', 'Dalia', 'avatars/dalia.png', '2026-11-22 22:22:20.018112+00', '2026-11-22 22:22:20.018112+00', 'system'),
('5', 'emil', 'Emil', 'avatars/emil.png', '2026-11-22 22:22:20.018112+00', '2026-11-22 22:22:20.018112+00', 'system');
alter table user_profiles enable trigger user;

alter table users disable trigger user;
delete from users;
insert into users (user_id, charging_agent, allow_receive_withdraw_requests, business_manager, agency_countries, sessions_revoked_before) values
('1', 'false', 'false', 'false', '[]', '0'),
('2', 'false', 'false', 'false', '[]', '0'),
('3', 'false', 'false', 'false', '[]', '0'),
('4', 'true', 'true', 'false', '[{"country_id":1,"diamonds_per_dollar":10500},{"country_id":2,"diamonds_per_dollar":10200}]', '0'),
('5', 'false', 'false', 'true', '[]', '1795386201');
alter table users enable trigger user;

alter table vault_keys disable trigger user;
delete from vault_keys;
insert into vault_keys (record_id, user_id, wrapped) values
('5b94dc83-c06e-40c9-8880-929eafb65ea0', '1', 'LipRRuxP4ebbMHpPW8lp0RS0NYQzug32rHVuTsRjCejhNr55U5goVieYu16nyKSjjzDLr4FZgO/SltCT'),
('91c6629e-385a-43ea-a042-931af0947da2', '1', 'QIzooiDmxBcD6fzv5WJXDRnM+TaFmc6xQszQ7knHA0VoVJ46Y0JSP1rTrIMePjhyiRcWb06yTrxW0b3n');
alter table vault_keys enable trigger user;

alter table vault_records disable trigger user;
delete from vault_records;
insert into vault_records (record_id, sealed) values
('5b94dc83-c06e-40c9-8880-929eafb65ea0', 'FBmnGKAVB14LcUR2yDezUp9KgV///ddI0XK3GTiFpX5+CEk5FPxn+hcF+GNbUkzH9UcD3uwudyuEsD0nlNrCiwThWvFe+QUsYh6vznTU7S1T9Bc/TJs4r7Sg0gn0LAL+xpzeupmMpKxybG/tH6d0vSg+Y2d8dk2MqyTHFtE6peWrx+MSszeTL2zBCVd/W9F72YVsZDkTwPkmY0YP1MA='),
('91c6629e-385a-43ea-a042-931af0947da2', '4Lx3ACFzfAZEf48J/g9iQdpnIf/neMokpbKqNb2CrtgB7OGQoYk/kUYDih9m71GKH/OJvfr1/RDrloIcgdor0i5ItXGCrE5x/n92UP9u5iXDdEXy1ej5yI8GQA5nKlAhCeoyYQ==');
alter table vault_records enable trigger user;

alter table withdrawals disable trigger user;
delete from withdrawals;
insert into withdrawals (withdrawal_id, type, status, user_id, target_id, beneficiary_id, country_id, wallet, amount, diamonds_per_dollar, details, note, created_at, changed_at, changed) values
('47', 'gold_agent', 'transferred', '1', '4', '2', '1', 'dollars', '2050', '10500', '91c6629e-385a-43ea-a042-931af0947da2', NULL, '2026-11-22 22:23:21.125821+00', '2026-11-22 22:23:21.335647+00', '49'),
('50', 'cash', 'pending', '1', '5', NULL, '1', 'dollars', '1250', NULL, '5b94dc83-c06e-40c9-8880-929eafb65ea0', NULL, '2026-11-22 22:23:21.369405+00', '2026-11-22 22:23:21.369405+00', '50');
alter table withdrawals enable trigger user;
