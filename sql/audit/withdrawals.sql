-- Withdrawals: what is on hold of a wallet is what its pending requests come to; dollars are in a request's own account
-- only while it is approved, and then as many as were asked for; what an agent or manager has settled is what was
-- transferred to them.
-- A row a finding; none: every cent that is owed or held is explained. Requests are read from the ledger alone.
--
--   PGSERVICEFILE=.data/pg_service.conf PGSERVICE=economy psql -f sql/audit/withdrawals.sql

with requests as (
  select position as withdrawal_id, data::jsonb as data
  from ledger where type = 'withdrawal-requested'
),
changes as (
  select distinct on ((data::jsonb->>'withdrawal_id')::bigint)
         (data::jsonb->>'withdrawal_id')::bigint as withdrawal_id, data::jsonb->>'to' as status
  from ledger where type = 'withdrawal-status-changed'
  order by 1, position desc
),
standing as (
  select r.withdrawal_id, coalesce(c.status, 'pending') as status, (r.data->>'amount')::numeric as amount,
         'user:' || (r.data->>'user_id') || ':' || (r.data->>'wallet') as wallet,
         'settled:' || (r.data->>'target_id') || ':dollars' as settled
  from requests r left join changes c using (withdrawal_id)
),
sides as (
  select credit as account, amount::numeric as change from ledger_movements where credit ~ '^(withdrawal|settled):'
  union all
  select debit, -amount::numeric from ledger_movements where debit ~ '^(withdrawal|settled):'
),
held as (
  select account, sum(change) as cents from sides group by account
),
owed as (
  select 'withdrawal:' || withdrawal_id || ':dollars' as account, amount as cents from standing where status = 'approved'
  union all
  select settled, sum(amount) from standing where status = 'transferred' group by settled
),
pending as (
  select wallet as account, sum(amount) as cents from standing where status = 'pending' group by wallet
)
select account, 'on hold otherwise than is pending' as finding, coalesce(h.held, 0) as is, coalesce(p.cents, 0) as ought_to_be
from holds h full join pending p using (account)
where coalesce(h.held, 0) <> coalesce(p.cents, 0)
union all
select account, 'not what its requests come to', coalesce(h.cents, 0), coalesce(o.cents, 0)
from held h full join owed o using (account)
where coalesce(h.cents, 0) <> coalesce(o.cents, 0)
order by account;
