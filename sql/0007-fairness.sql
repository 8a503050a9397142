create table lucky_progress (
  user_id         bigint primary key,
  incarnation     text not null,
  -- The current chain is <user_id>-<number>, and `used` of its links are revealed.
  number          bigint not null,
  used            bigint not null,
  client_seed     text not null,
  commitment      text not null,
  next_commitment text not null,
  -- As that of balances.
  filling         text
);
comment on table lucky_progress is 'Where the draws of each user stand. From the ledger.';

create table lucky_chains (
  incarnation  text not null,
  chain        text not null,
  user_id      bigint not null,
  commitment   text not null,
  -- SHA-256 of the fairness key that it derives from.
  fairness_key text not null,
  primary key (chain, incarnation)
);
comment on table lucky_chains is
  'The commitment of every chain that was ever opened or announced, by which old draws can be checked. From the ledger.';
