-- All from the ledger.

-- What is on hold of an account's balance; no row where nothing is. What is available is the balance less this.
create table holds (
  account text primary key,
  held    numeric not null
);

create table withdrawals (
  -- Position of the event that made it.
  withdrawal_id       bigint primary key,
  -- gold_agent or cash
  type                text not null,
  -- pending, approved, rejected or transferred
  status              text not null,
  user_id             bigint not null,
  -- The charging agent or the business manager it is addressed to.
  target_id           bigint not null,
  -- Who gets the diamonds of a gold_agent.
  beneficiary_id      bigint,
  country_id          bigint not null,
  -- dollars or agent_dollars
  wallet              text not null,
  -- Cents.
  amount              bigint not null,
  -- The agent's rate when it was requested.
  diamonds_per_dollar bigint,
  -- Records of the vault: what the requester wrote, and the note of the last change.
  details             text,
  note                text,
  created_at          timestamptz not null,
  changed_at          timestamptz not null,
  -- Position of the event that made or last changed it.
  changed             bigint not null
) with (fillfactor = 80); -- room on each page for the next version of its rows

create table instant_transfers (
  -- Position of the event that made it.
  transfer_id bigint primary key,
  user_id     bigint not null,
  receiver_id bigint not null,
  -- dollars or agent_dollars
  wallet      text not null,
  -- Cents.
  amount      bigint not null,
  -- Diamonds for a dollar.
  rate        bigint not null,
  diamonds    bigint not null,
  created_at  timestamptz not null
);

-- Each user is paid once for each period.
create table salary_deposits (
  period        text not null,
  user_id       bigint not null,
  -- Cents.
  dollars       bigint not null,
  agent_dollars bigint not null,
  -- Points that were taken for it.
  target        bigint not null,
  -- Position of its event.
  deposit_id    bigint not null,
  primary key (period, user_id)
);

-- Lists are newest first.
create index withdrawals_of_user on withdrawals (user_id, withdrawal_id desc);
create index withdrawals_received on withdrawals (target_id, withdrawal_id desc);
create index withdrawals_unsettled on withdrawals (status, withdrawal_id desc) where status in ('pending', 'approved');
create index instant_transfers_of_user on instant_transfers (user_id, transfer_id desc);
