-- How many members a room has: counting them takes 200 ms at a million, and every look at a room shows the number.
-- Triggers keep it, so that no writer can forget it. A count is the sum of a room's slots: whoever joins locks the row of
-- their session's slot until commit, so that those who join one room at once do not wait for each other.

create table room_member_counts (
  room_id bigint not null,
  slot    smallint not null,
  -- Below zero in a slot whose session removed members that others had added; the sum never is.
  members bigint not null,
  primary key (room_id, slot)
) with (fillfactor = 50);

-- With the owner's rights: the service may read the counts and not write them. So it looks only where this migration
-- does, in the ledger's schema and last in pg_temp, whatever the session's search_path is.
create function count_room_members() returns trigger language plpgsql security definer
  set search_path from current
as $$
declare
  own_slot constant smallint := pg_backend_pid() % 16;
begin
  -- In the order of rooms: two statements about several rooms cannot deadlock.
  if tg_op = 'TRUNCATE' then
    delete from room_member_counts;
  elsif tg_op = 'INSERT' then
    insert into room_member_counts as c (room_id, slot, members)
      select room_id, own_slot, count(*) from added group by room_id order by room_id
      on conflict (room_id, slot) do update set members = c.members + excluded.members;
  elsif tg_op = 'DELETE' then
    insert into room_member_counts as c (room_id, slot, members)
      select room_id, own_slot, -count(*) from removed group by room_id order by room_id
      on conflict (room_id, slot) do update set members = c.members + excluded.members;
  else
    insert into room_member_counts as c (room_id, slot, members)
      select room_id, own_slot, sum(change)
      from (select room_id, 1 as change from added union all select room_id, -1 from removed) as changes
      group by room_id having sum(change) <> 0 order by room_id
      on conflict (room_id, slot) do update set members = c.members + excluded.members;
  end if;
  return null;
end
$$;

create trigger count_added after insert on room_members referencing new table as added
  for each statement execute function count_room_members();
create trigger count_removed after delete on room_members referencing old table as removed
  for each statement execute function count_room_members();
create trigger count_moved after update on room_members referencing old table as removed new table as added
  for each statement execute function count_room_members();
create trigger count_truncated after truncate on room_members
  for each statement execute function count_room_members();

-- After the triggers, whose creation waits for writers and keeps them out until commit.
insert into room_member_counts (room_id, slot, members)
  select room_id, 0, count(*) from room_members group by room_id;
