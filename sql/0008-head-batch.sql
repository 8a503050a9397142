-- The last transaction of an executor. Whoever sends one that was decided beforehand names the one it was decided on:
-- position and hash do not tell, as a transaction that remembers a refusal moves neither.
alter table ledger_head add column batch uuid not null default gen_random_uuid();
