-- What people and rooms are searched by, with folded letters. The service folds them: PostgreSQL's lower() leaves a final
-- sigma, and what else it knows depends on the locale of the database. Rows that are there have what it knows until they
-- are written again.
alter table user_profiles add column uid_folded text not null default '', add column name_folded text not null default '';
update user_profiles set uid_folded = lower(uid), name_folded = lower(name);
alter table room_profiles add column uid_folded text not null default '', add column name_folded text not null default '';
update room_profiles set uid_folded = lower(uid), name_folded = lower(name);
-- What ANALYZE samples would keep the beginnings of names of people who were forgotten since.
alter table user_profiles alter column uid_folded set statistics 0, alter column name_folded set statistics 0;

drop index user_profiles_by_uid, user_profiles_by_name, room_profiles_by_uid, room_profiles_by_name;
create index user_profiles_by_uid on user_profiles (uid_folded);
create index user_profiles_by_name on user_profiles (name_folded text_pattern_ops, user_id);
create index room_profiles_by_uid on room_profiles (uid_folded);
create index room_profiles_by_name on room_profiles (name_folded text_pattern_ops);
