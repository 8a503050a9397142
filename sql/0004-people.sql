create table users (
  user_id                         bigint primary key,
  charging_agent                  boolean not null,
  allow_receive_withdraw_requests boolean not null,
  business_manager                boolean not null,
  -- JSON: [{ country_id, diamonds_per_dollar }]
  agency_countries                text not null,
  -- Seconds since 1970: tokens issued before have expired.
  sessions_revoked_before         bigint not null
);
-- Every client may list them, and a scan of all users takes 100 ms at a million.
create index users_charging_agents on users (user_id) where charging_agent and allow_receive_withdraw_requests;
create index users_business_managers on users (user_id) where business_manager;
comment on table users is 'What rules about value need to know about users. From the ledger.';

create table role_counts (
  -- charging_agents, who accept requests, or business_managers
  role  text primary key,
  users bigint not null
);
comment on table role_counts is 'How many users have a role; no row where nobody has. From the ledger.';

create table user_profiles (
  user_id     bigint primary key,
  -- Checked at commit: in one transaction a uid may pass from one user to another.
  uid         text not null unique deferrable initially deferred,
  name        text not null,
  avatar      text not null,
  created_at  timestamptz not null,
  updated_at  timestamptz not null,
  updated_by  text not null,
  -- With folded letters, for searches. The service folds them: what lower() does depends on the locale of the database.
  uid_folded  text not null,
  name_folded text not null
);
-- Samples of ANALYZE would keep the beginnings of names of people who were erased since.
alter table user_profiles alter column uid_folded set statistics 0, alter column name_folded set statistics 0;
create index user_profiles_newest on user_profiles (created_at desc, user_id desc);
create index user_profiles_by_uid on user_profiles (uid_folded);
create index user_profiles_by_name on user_profiles (name_folded text_pattern_ops, user_id);
comment on table user_profiles is
  'Names and pictures of people. Not part of the ledger, so that they can be changed and erased.';

create view user_uids as select uid, user_id from user_profiles;
comment on view user_uids is 'The user who has a uid now.';

create table countries (
  country_id bigint primary key,
  name       text not null,
  -- Null where one name serves both languages.
  name_ar    text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  updated_by text not null
);
create index countries_newest on countries (created_at desc, country_id desc);
comment on table countries is 'Names of countries. Not part of the ledger.';

create view country_counts as
select 'countries' as list, count(*) as countries from countries;
comment on view country_counts is 'How many countries there are: one row.';
