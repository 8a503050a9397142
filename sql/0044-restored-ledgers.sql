-- Clients' positions without an incarnation are refused for a day after commits were lost.
alter table ledger_incarnation add column began_at timestamptz not null;
