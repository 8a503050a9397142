-- Double entry: whatever leaves one account enters another, and only the system's own accounts owe.
-- A row a finding; none: every currency sums to zero, no user or room was ever overdrawn, and no debt was ever overpaid.
--
--   PGSERVICEFILE=.data/pg_service.conf PGSERVICE=economy psql -f sql/audit/double-entry.sql

with sides as (
  select position, debit as account, -amount::numeric as change from ledger_movements
  union all
  select position, credit, amount::numeric from ledger_movements
),
running as (
  select
    position,
    account,
    -- All movements of an event count as one.
    sum(change) over (partition by account order by position range unbounded preceding) as balance
  from sides
)
select 'a currency does not sum to zero' as finding, null as position,
       split_part(account, ':', 3) as account, sum(change) as balance
from sides
group by split_part(account, ':', 3)
having sum(change) <> 0
union all
select 'a movement of two currencies, or of no amount', position, concat(debit, ' to ', credit), amount
from ledger_movements
where (debit is not null and credit is not null and amount > 0
       and split_part(debit, ':', 3) = split_part(credit, ':', 3)) is not true
union all
select 'overdrawn for the first time', min(position), account, (array_agg(balance order by position))[1]
from running
where balance < 0 and account !~ '^(house|issuance|purchases|debt):'
group by account
union all
select 'paid more than was owed for the first time', min(position), account, (array_agg(balance order by position))[1]
from running
where balance > 0 and account like 'debt:%'
group by account
order by position nulls first, account;
