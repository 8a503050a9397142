-- People are found by their uid and by the beginning of their name, in upper or lower case. The indexes hold nothing
-- that the profile does not: who is forgotten is in them under the neutral uid and without a name.
create index user_profiles_by_uid on user_profiles (lower(uid));
create index user_profiles_by_name on user_profiles (lower(name) text_pattern_ops, user_id);
-- What ANALYZE samples of an expression would keep the beginnings of names of people who were forgotten since.
alter index user_profiles_by_uid alter column 1 set statistics 0;
alter index user_profiles_by_name alter column 1 set statistics 0;
-- The list of business managers is any client's to read and looked at every user.
create index users_business_managers on users (user_id) where business_manager;
