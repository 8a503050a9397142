-- What a remembered reply became when somebody in it was forgotten stands on the ledger, instead of a mark beside the
-- reply that says only that it may be anything.
alter table replies drop column blanked;
create index ledger_blanked_replies on ledger_events (position) where type = 'replies-blanked';
