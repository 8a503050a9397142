-- The Idempotency-Key of the request that started a verification or made a checkpoint, so that a retry finds its work done.
alter table verification_runs add column idempotency_key text;
create unique index verification_runs_keys on verification_runs (started_by, idempotency_key);

alter table made_checkpoints add column idempotency_key text;
create unique index made_checkpoints_keys on made_checkpoints (made_by, idempotency_key);
