-- Whether what staff move needs a colleague's approval, and what each may move alone in 24 hours. From the ledger; no row
-- while nobody ever set it: approvals are off.
drop table approval_settings;
create table approval_settings (
  scope  text primary key,
  -- By limit, in smallest units, as JSON; null where approvals are off.
  limits text
);
