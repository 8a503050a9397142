-- How many stored cards a user has; no row where there are none. From the ledger.
create table card_counts (
  user_id bigint primary key,
  stored  bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows

insert into card_counts (user_id, stored)
select owner_id, count(*) from privilege_cards where not activated group by owner_id;
