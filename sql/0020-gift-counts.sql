-- How many kinds of gifts a user's bag holds; no row where it is empty. From the ledger.
create table bag_counts (
  user_id bigint primary key,
  kinds   bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows

-- How many gifts the catalogue holds: one row. From the ledger.
create table catalogue_counts (
  catalogue   text primary key,
  decorations bigint not null
);

insert into bag_counts (user_id, kinds)
select user_id, count(*) from bag_items group by user_id;

insert into catalogue_counts (catalogue, decorations)
select 'decorations', count(*) from decorations having count(*) > 0;
