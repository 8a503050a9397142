-- Positions and ids are used again after commits were lost: what is drawn derives from the ledger's incarnation, too.

do $$
begin
  if exists (select from ledger_events where position = 1 and data not like '%"incarnation"%') then
    raise exception 'the ledger of this database has no incarnation, and this version continues none without: start on an empty database';
  end if;
end
$$;

create table ledger_incarnation (
  one         bigint primary key,
  incarnation text not null,
  -- Where the event stands that names it.
  position    bigint not null
);

alter table lucky_progress add column incarnation text not null;

alter table lucky_chains drop constraint lucky_chains_pkey;
alter table lucky_chains add column incarnation text not null;
alter table lucky_chains add primary key (chain, incarnation);

alter table roulette_games add column incarnation text not null;
