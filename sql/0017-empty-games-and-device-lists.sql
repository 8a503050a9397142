-- Since when nobody has been seated in an open game; null while somebody is and once it is over. From the ledger.
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

-- For the search for games that nobody finished.
create index roulette_games_open_by_age on roulette_games (created_at) where status = 'open';
create index roulette_games_empty on roulette_games (empty_since) where status = 'open';

-- A user has at most 20 devices.
delete from devices d
using (select token, row_number() over (partition by user_id order by registered_at desc, token) as place from devices) p
where d.token = p.token and p.place > 20;

-- The tokens of each user's devices as JSON, those registered last first.
create view user_devices as
select u.user_id,
       (select coalesce(json_agg(d.token order by d.registered_at desc, d.token), '[]')::text
        from devices d where d.user_id = u.user_id) as tokens
from user_profiles u;
