create table rooms (
  room_id       bigint primary key,
  owner_id      bigint not null,
  trophy_points bigint not null,
  -- On the row that is read with each room anyway: counting members takes 200 ms at a million.
  members_count bigint not null,
  -- As that of balances.
  filling       text
);
comment on table rooms is 'What rules about value need to know about rooms. From the ledger.';

create table room_profiles (
  room_id     bigint primary key,
  -- Checked at commit: in one transaction a uid may pass from one room to another.
  uid         text not null unique deferrable initially deferred,
  name        text not null,
  cover_url   text not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  updated_by  text not null,
  -- With folded letters, for searches, as those of user_profiles.
  uid_folded  text not null,
  name_folded text not null
);
create index room_profiles_newest on room_profiles (created_at desc, room_id desc);
create index room_profiles_by_uid on room_profiles (uid_folded);
create index room_profiles_by_name on room_profiles (name_folded text_pattern_ops);
comment on table room_profiles is 'Names and covers of rooms. Not part of the ledger.';

create view room_uids as select uid, room_id from room_profiles;
comment on view room_uids is 'The room that has a uid now.';

create table room_memberships (
  room_id   bigint not null,
  user_id   bigint not null,
  joined_at timestamptz not null,
  primary key (user_id, room_id)
);
create index room_memberships_newest on room_memberships (room_id, joined_at desc, user_id desc);
comment on table room_memberships is 'Who is a member of a room. From the ledger.';
