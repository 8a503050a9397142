-- From the ledger: the second before which the tokens of a member of staff are over.

create table staff_sessions (
  sub            text primary key,
  revoked_before bigint not null
);
