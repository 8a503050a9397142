-- As before, with a statement for each room instead of one that reads the trigger's own tables: such a one cannot be
-- sent to a shard, which every table of a schema of Citus is.
create or replace function count_room_members() returns trigger language plpgsql security definer
  set search_path from current
as $$
declare
  own_slot constant smallint := pg_backend_pid() % 16;
  -- Pairs of a room and by how much its members change.
  changes  bigint[];
  change   bigint[];
begin
  -- In the order of rooms: two statements about several rooms cannot deadlock.
  if tg_op = 'TRUNCATE' then
    delete from room_member_counts;
  elsif tg_op = 'INSERT' then
    select array_agg(array[room_id, by] order by room_id) into changes
      from (select room_id, count(*) as by from added group by room_id) as rooms;
  elsif tg_op = 'DELETE' then
    select array_agg(array[room_id, by] order by room_id) into changes
      from (select room_id, -count(*) as by from removed group by room_id) as rooms;
  else
    select array_agg(array[room_id, by] order by room_id) into changes
      from (select room_id, sum(one)::bigint as by
            from (select room_id, 1 as one from added union all select room_id, -1 from removed) as moves
            group by room_id having sum(one) <> 0) as rooms;
  end if;
  if changes is null then
    return null;
  end if;
  foreach change slice 1 in array changes loop
    insert into room_member_counts as c (room_id, slot, members) values (change[1], own_slot, change[2])
      on conflict (room_id, slot) do update set members = c.members + excluded.members;
  end loop;
  return null;
end
$$;
