-- Who was forgotten is blanked in replies that are remembered; such a reply is no longer the one whose hash is on the
-- ledger.
alter table replies add column blanked boolean not null default false;
