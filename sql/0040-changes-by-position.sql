-- Lists as of an earlier position find what changed since by these indexes; without them, every list scans its table.
create index withdrawals_by_change on withdrawals (changed);
create index proposals_by_decision on proposals (decided_at);
