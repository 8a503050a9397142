-- Sessions of the console that ended by signing out, so that no copy of their cookie works any more, on any instance. Not
-- part of the ledger: rows are deleted once their cookies are over by themselves.
create table ended_console_sessions (
  -- Random, from the session's cookie; useless without the cookie's signature.
  id       text primary key,
  ended_at timestamptz not null
);
