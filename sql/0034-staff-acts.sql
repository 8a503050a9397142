-- What members of staff did, newest first. Of other events only the condition is looked at when they are written.
create index ledger_staff_acts on ledger_events (position) where actor like 'staff:%';
