-- Roulette: coins are in a game's account only while the game is open, and then as many as its players paid in; once it
-- is finished or cancelled the account is empty.
-- A row a finding; none: every coin that was paid in was paid out. Read from the ledger alone.
--
--   PGSERVICEFILE=.data/pg_service.conf PGSERVICE=economy psql -f sql/audit/games.sql

with facts as (
  select position, type, data::jsonb as data
  from ledger
  where type in ('roulette-created', 'roulette-joined', 'roulette-left', 'roulette-finished', 'roulette-cancelled')
),
games as (
  select c.position as game_id, min(e.position) as end_position, count(e.position) as ends
  from facts c
  left join facts e on e.type in ('roulette-finished', 'roulette-cancelled') and (e.data->>'game_id')::bigint = c.position
  where c.type = 'roulette-created'
  group by c.position
),
stakes as (
  select (data->>'game_id')::bigint as game_id,
         sum(case type when 'roulette-joined' then 1 else -1 end * (data->>'stake')::numeric) as coins
  from facts
  where type in ('roulette-joined', 'roulette-left')
  group by 1
),
sides as (
  select credit as account, amount::numeric as change from ledger_movements where credit like 'game:%'
  union all
  select debit, -amount::numeric from ledger_movements where debit like 'game:%'
),
held as (
  select account, sum(change) as coins from sides group by account
)
select g.game_id, 'more than one end' as finding, g.ends::numeric as is, 1 as ought_to_be
from games g
where g.ends > 1
union all
select g.game_id, case when g.ends > 0 then 'coins in a game that is over' else 'not what the players paid in' end,
       coalesce(h.coins, 0), case when g.ends > 0 then 0 else coalesce(s.coins, 0) end
from games g
left join held h on h.account = 'game:' || g.game_id || ':coins'
left join stakes s on s.game_id = g.game_id
where coalesce(h.coins, 0) <> case when g.ends > 0 then 0 else coalesce(s.coins, 0) end
union all
select null, 'no such game: ' || h.account, h.coins, 0
from held h
where not exists (select from games g where h.account = 'game:' || g.game_id || ':coins')
order by game_id nulls first;
