-- How many of a gift all bags hold together: what a change of its price is worth. From the ledger.
create table bag_totals (
  decoration_id bigint primary key,
  quantity      numeric not null
);
insert into bag_totals select decoration_id, sum(quantity) from bag_items group by decoration_id;

-- What staff may do only with a colleague's approval, with all that it will do: its sums for lists, and its rows beside
-- them. From the ledger.
drop table proposals;
create table proposals (
  proposal_id bigint primary key,
  -- Of what it moves and grants.
  version     text not null,
  status      text not null,
  action      text not null,
  verb        text not null,
  subject     text not null,
  -- In the smallest unit, as JSON.
  amounts     text not null,
  -- A package's days and rank, or a gift's price, as JSON.
  terms       text not null,
  reason      text,
  rows_count  bigint not null,
  -- The rows of a salary file that are not paid, and why, as JSON.
  not_paid    text not null,
  maker       text not null,
  decided_by  text,
  note        text,
  refusal     text,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  decided_at  timestamptz
);
create index proposals_open on proposals (proposal_id) where status = 'open';
create index proposals_by_decision on proposals (decided_at);

-- The long part of each proposal. From the ledger.
create table proposal_contents (
  proposal_id bigint primary key,
  -- The verb's input, as JSON.
  input       text not null,
  -- As JSON; null unless it was approved or rejected.
  effects     text
);
