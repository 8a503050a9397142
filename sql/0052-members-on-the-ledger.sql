-- All members of rooms are on the ledger: no other table has any.
drop table room_members;
drop function count_room_members;
drop table room_member_counts;
