-- Rows of these tables are rewritten with every gift. A new version of a row needs no new index entry as long as it
-- finds room on the same page, and PostgreSQL clears a page of old versions whenever less of it is free than a fill
-- factor would keep free. So a fill factor leaves each page just at the point where every write clears it first, which
-- costs as much as the write. Instead a row is born with this filling and drops it when it is first rewritten: what is
-- free then takes dozens of new versions before the page is cleared once.
alter table balances add column filling text;
alter table balances reset (fillfactor);
alter table rooms add column filling text;
alter table lucky_progress add column filling text;
alter table gift_streaks add column filling text;
