-- How many users are charging agents who accept requests, and how many business managers; no row where nobody is. From
-- the ledger.
create table role_counts (
  role  text primary key,
  users bigint not null
);

-- How many privilege packages there are: one row. From the ledger.
create table package_counts (
  list     text primary key,
  packages bigint not null
);

-- How many countries there are, which are not on the ledger: one row.
create view country_counts as
select 'countries' as list, count(*) as countries from countries;

insert into role_counts (role, users)
select 'charging_agents', count(*) from users where charging_agent and allow_receive_withdraw_requests having count(*) > 0;
insert into role_counts (role, users)
select 'business_managers', count(*) from users where business_manager having count(*) > 0;

insert into package_counts (list, packages)
select 'privilege_packages', count(*) from privilege_packages having count(*) > 0;
