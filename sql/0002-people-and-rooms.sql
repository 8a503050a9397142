-- From the ledger: what decides about value.

create table users (
  user_id                         bigint primary key,
  charging_agent                  boolean not null,
  allow_receive_withdraw_requests boolean not null,
  business_manager                boolean not null,
  -- JSON: [{ country_id, diamonds_per_dollar }]
  agency_countries                text not null,
  -- Tokens issued before this second are over.
  sessions_revoked_before         bigint not null
);

create table rooms (
  room_id       bigint primary key,
  owner_id      bigint not null,
  trophy_points bigint not null
);

-- Words about people, rooms and countries: beside the ledger, so that they can be changed and erased.
-- Uids are checked at commit: in one transaction one may pass from a row to another.

create table user_profiles (
  user_id    bigint primary key,
  uid        text not null unique deferrable initially deferred,
  name       text not null,
  avatar     text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  updated_by text not null
);
create view user_uids as select uid, user_id from user_profiles;

create table room_profiles (
  room_id    bigint primary key,
  uid        text not null unique deferrable initially deferred,
  name       text not null,
  cover_url  text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  updated_by text not null
);
create view room_uids as select uid, room_id from room_profiles;

create table room_members (
  room_id   bigint not null,
  user_id   bigint not null,
  joined_at timestamptz not null default clock_timestamp(),
  primary key (room_id, user_id)
);

create table countries (
  country_id bigint primary key,
  name       text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  updated_by text not null
);

-- Lists are newest first.
create index user_profiles_newest on user_profiles (created_at desc, user_id desc);
create index room_profiles_newest on room_profiles (created_at desc, room_id desc);
create index countries_newest on countries (created_at desc, country_id desc);
