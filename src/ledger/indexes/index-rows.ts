// SQL for the rows of `account_index` and `event_index`, as they follow from the events. The subscriber writes them,
// `verify` compares them and `rebuild` restores them by the same text. It runs in the database: sending every event to
// this process and parsing it here would take longer, and from the thread that answers requests.

/** The name of the cursor in `ledger_cursors`: how far both tables have got. */
export const INDEX_CURSOR = 'indexes'
/** Positions of a block; offsets in it are smallint. */
export const BLOCK_EVENTS = 500

/** The position before the block that contains this one. */
export const baseOf = (position: number): number => position - 1 - ((position - 1) % BLOCK_EVENTS)

/** As `baseOf`, of an SQL expression. */
const baseSql = (position: string): string => `(${position} - 1) / ${BLOCK_EVENTS} * ${BLOCK_EVENTS}`

/**
 * `account, base, offsets, change` of the events after one position and up to another, both SQL expressions: `change` is
 * the sum of the movements that the offsets name.
 */
export const accountRowsSql = (after: string, upTo: string): string => `
  select account, base, array_agg((position - base)::smallint order by position) as offsets, sum(change) as change
  from (
    select unnest(debit || credit) collate "C" as account, ${baseSql('position')} as base, position,
           unnest(amount || amount)
             * unnest(array_fill(-1, array[cardinality(amount)]) || array_fill(1, array[cardinality(amount)])) as change
    from ledger_events where position > ${after} and position <= ${upTo}
  ) legs
  group by account, base`

/** How an id of a user, or a list of them, stands in the data of events; other names may precede these. */
export const userFields = ['user', 'sender', 'receiver', 'creator', 'winner', 'owner', 'target', 'beneficiary']
export const userListFields = ['user', 'receiver', 'player', 'loser']

const texts = (values: readonly string[]): string => `array[${values.map((value) => `'${value}'`).join(', ')}]`

/** The parts of events' data that follow one of these names, as `base, rest`. Much faster than a regular expression. */
const restsSql = (names: readonly string[]): string => `
  select base, rest
  from events, unnest(${texts(names)}) as name, string_to_table(data, name) with ordinality as part (rest, number)
  where strpos(data, name) > 0 and number > 1`

/** What can be looked for in `event_index`. A user's events are those that the user caused, or that concern the user. */
export type TermKind = 'type' | 'actor' | 'request' | 'key' | 'user'

/** SQL: the integer of a term; several terms may share one. `value` is an SQL expression. */
const termSql = (kind: TermKind, value: string): string => `hashtext('${kind} ' || ${value})`

/** `base, terms` of the full blocks after one position and up to another, both SQL expressions. */
export const termRowsSql = (after: string, upTo: string): string => `
  with events as materialized (
    select ${baseSql('position')} as base, type, actor, request_id, idempotency_key, data, debit, credit
    from ledger_events where position > ${after} and position <= ${upTo} / ${BLOCK_EVENTS} * ${BLOCK_EVENTS}
  ), users as (
    select base, split_part(account, ':', 2) as id
      from (select base, unnest(debit || credit) as account from events) accounts where account like 'user:%'
    union all select base, split_part(actor, ':', 2) from events where actor like 'user:%'
    union all select base, split_part(split_part(rest, ',', 1), '}', 1)
      from (${restsSql(userFields.map((field) => `${field}_id":`))}) single
    union all select base, string_to_table(split_part(rest, ']', 1), ',')
      from (${restsSql(userListFields.map((field) => `${field}_ids":[`))}) lists
  ), terms as (
    select base, ${termSql('type', 'type')} as term from events
    union all select base, ${termSql('actor', 'actor')} from events
    union all select base, ${termSql('request', 'request_id')} from events
    union all select base, ${termSql('key', 'idempotency_key')} from events where idempotency_key is not null
    union all select base, ${termSql('user', 'id')} from users
  )
  select base, array_agg(distinct term order by term) as terms from terms group by base`

/**
 * Indexes the events after $1 and up to $2, which end in one block, and moves the cursor with them. Answers where the
 * ledger ends, or nothing when the cursor is not at $1: then nothing is written.
 */
export const INDEX_EVENTS_SQL = `
  with moved as (
    update ledger_cursors set position = $2::bigint where name = '${INDEX_CURSOR}' and position = $1::bigint
    returning position
  ), accounts as (
    insert into account_index as i (account, base, offsets, balance)
    select a.account, a.base, a.offsets, coalesce(before.balance, 0) + a.change
    from moved, (${accountRowsSql('$1::bigint', '$2::bigint')}) a left join lateral (
      select balance from account_index where account = a.account order by base desc limit 1
    ) before on true
    on conflict (account, base) do update set offsets = i.offsets || excluded.offsets, balance = excluded.balance
  ), terms as (
    insert into event_index (base, terms)
    select t.base, t.terms from moved, (${termRowsSql(baseSql('$2::bigint'), '$2::bigint')}) t
  ), types as (
    insert into event_types (type, version)
    select distinct e.type, e.version from moved, ledger_events e where e.position > $1::bigint and e.position <= $2::bigint
    on conflict do nothing
  )
  select (select position from ledger_head) as head from moved`
