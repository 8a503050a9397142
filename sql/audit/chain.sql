-- Recomputes the hash of every event from its columns and the hash before it, in SQL alone.
-- A row a finding, in order; none: the chain is whole and ends at the head.
--
--   PGSERVICEFILE=.data/pg_service.conf PGSERVICE=economy psql -f sql/audit/chain.sql

with canonical as (
  select
    e.position,
    e.hash,
    lag(e.position, 1, 0::bigint) over in_order as position_before,
    -- What is hashed: eleven lines of UTF-8, the last one without a line break at its end.
    concat_ws(E'\n',
      lag(e.hash, 1, repeat('0', 64)) over in_order,
      e.position,
      e.type,
      e.version,
      to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
      e.actor,
      e.request_id,
      coalesce(e.idempotency_key, ''),
      coalesce(e.reply_hash, ''),
      -- `<debit> <credit> <amount>;` for each movement.
      e.movements,
      e.data
    ) as text
  from ledger e
  window in_order as (order by e.position)
),
recomputed as (
  select position, position_before, hash, encode(sha256(convert_to(text, 'UTF8')), 'hex') as hash_of_text
  from canonical
),
last as (
  select position, hash from ledger
  union all
  select 0, repeat('0', 64)
  order by position desc
  limit 1
)
select position, 'the hash differs' as finding, hash as is, hash_of_text as ought_to_be
from recomputed
where hash <> hash_of_text
union all
select position_before + 1, 'missing up to position ' || position - 1, null, null
from recomputed
where position <> position_before + 1
union all
select last.position, 'the head is elsewhere', h.position || ' ' || h.hash, last.position || ' ' || last.hash
from ledger_head h, last
where (h.position, h.hash) <> (last.position, last.hash)
order by position;
