-- The table of balances against the sum of all movements.
-- A row a finding; none: every balance is what its movements come to.
--
--   PGSERVICEFILE=.data/pg_service.conf PGSERVICE=economy psql -f sql/audit/balances.sql

with sums as (
  select account, sum(change) as balance
  from (
    select debit as account, -amount::numeric as change from ledger_movements
    union all
    select credit, amount::numeric from ledger_movements
  ) sides
  group by account
)
select account, b.balance as is, s.balance as ought_to_be
from balances b full join sums s using (account)
where b.balance is distinct from s.balance
order by account;
