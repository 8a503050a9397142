-- The cards that a user activated and the seats that a user took, newest first. Of other events only the condition is looked
-- at when they are written. By the indexes of terms and of accounts, whose blocks hold the acts of others too, the page of a
-- user took half as long again.
create index ledger_acts_of_users on ledger_events (actor, type, position)
  where type in ('card-activated', 'roulette-joined');
