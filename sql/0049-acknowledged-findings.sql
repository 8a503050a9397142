-- Findings of closings that operators acknowledged, which stop no closing any more. From the ledger.
create table finding_acknowledgements (
  -- The first 16 hex digits of SHA-256 of `<step>|<kind>|<subject>`.
  finding            text primary key,
  -- The position of its event.
  acknowledgement_id bigint not null unique,
  step               text not null,
  kind               text not null,
  -- The position of an event, an account, or a row of a table.
  subject            text not null,
  -- YYYY-MM: the month whose closing it stopped.
  month              text not null,
  acknowledged_by    text not null,
  reason             text not null,
  acknowledged_at    timestamptz not null
);

-- JSON: what the steps of its closing found that was acknowledged.
alter table month_closings add column acknowledged text not null default '[]';

alter table closing_steps
  -- JSON: [{ finding, kind, subject, message }], those that were acknowledged and the first others.
  add column findings text not null default '[]',
  add column has_more_findings boolean not null default false;
