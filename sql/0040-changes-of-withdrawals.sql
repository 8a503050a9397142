-- A list as of an earlier position needs the requests that were changed since; the newest has none of them, and must not look
-- at all that there ever were to find that out.
create index withdrawals_by_change on withdrawals (changed);
-- The same of proposals.
create index proposals_by_decision on proposals (decided_at);
