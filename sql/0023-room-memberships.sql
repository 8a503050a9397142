-- Who is a member of a room, from the ledger. Who joined before this existed stands in room_members, where instances of
-- the version before may still write for a moment; the service puts them on the ledger and deletes them there.
create table room_memberships (
  room_id   bigint not null,
  user_id   bigint not null,
  joined_at timestamptz not null,
  primary key (user_id, room_id)
);
-- Members of a room, newest first.
create index room_memberships_newest on room_memberships (room_id, joined_at desc, user_id desc);

-- On the row that gifts rewrite anyway: whoever looks at a room reads it, and nobody counts members.
alter table rooms add column members_count bigint not null default 0;

-- For the search by uid or by the beginning of a name, in upper or lower case.
create index room_profiles_by_uid on room_profiles (lower(uid));
create index room_profiles_by_name on room_profiles (lower(name) text_pattern_ops);
