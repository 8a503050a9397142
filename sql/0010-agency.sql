create table withdrawals (
  -- The position of the event that made it.
  withdrawal_id       bigint primary key,
  -- gold_agent or cash
  type                text not null,
  -- pending, approved, rejected or transferred
  status              text not null,
  user_id             bigint not null,
  -- The charging agent or the business manager that it is addressed to.
  target_id           bigint not null,
  -- The receiver of the diamonds of a gold_agent.
  beneficiary_id      bigint,
  country_id          bigint not null,
  -- dollars or agent_dollars
  wallet              text not null,
  -- Cents.
  amount              bigint not null,
  -- The rate of the agent when it was requested.
  diamonds_per_dollar bigint,
  -- Records of the vault: what the requester wrote, and the note of the last change.
  details             text,
  note                text,
  created_at          timestamptz not null,
  changed_at          timestamptz not null,
  -- The position of the event that made or last changed it.
  changed             bigint not null,
  -- The position of the event that approved it; null where none did.
  approved            bigint
) with (fillfactor = 80); -- room on each page for the next version of its rows
-- Lists are newest first.
create index withdrawals_of_user on withdrawals (user_id, withdrawal_id desc);
create index withdrawals_received on withdrawals (target_id, withdrawal_id desc);
create index withdrawals_unsettled on withdrawals (status, withdrawal_id desc) where status in ('pending', 'approved');
-- Lists as of an earlier position find by this what changed since.
create index withdrawals_by_change on withdrawals (changed);
comment on table withdrawals is 'Requests of users to be paid in cash, or in diamonds by an agent. From the ledger.';

create table instant_transfers (
  -- The position of the event that made it.
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
create index instant_transfers_of_user on instant_transfers (user_id, transfer_id desc);
create index instant_transfers_received on instant_transfers (receiver_id, transfer_id desc);
comment on table instant_transfers is
  'Dollars that users changed into diamonds, for themselves or others. From the ledger.';

create table salary_deposits (
  period        text not null,
  user_id       bigint not null,
  -- Cents.
  dollars       bigint not null,
  agent_dollars bigint not null,
  -- Points that were taken for it.
  target        bigint not null,
  -- The position of its event.
  deposit_id    bigint not null,
  primary key (period, user_id)
);
comment on table salary_deposits is 'Salaries that were paid, to each user once for each period. From the ledger.';
