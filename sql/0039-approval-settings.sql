-- APPROVALS and APPROVAL_LIMITS of the instances that run, or that ran last: command lines and further instances must have
-- the same. Not part of the ledger.
create table approval_settings (
  only_row boolean primary key default true check (only_row),
  settings text not null,
  kept_at  timestamptz not null
);
