-- The rows of a salary file that were not paid, and why, as JSON; null where there is no file, or nothing was decided.
alter table proposals add column not_paid text;
