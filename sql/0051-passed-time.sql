-- Until when time has really passed, for what deletes by age: at most twice as fast as the clocks of instances run, and never
-- beyond the clock of the database, which may jump. Not part of the ledger.
create table passed_time (
  only_row boolean primary key default true check (only_row),
  at       timestamptz not null
);
insert into passed_time (at) values (clock_timestamp());
