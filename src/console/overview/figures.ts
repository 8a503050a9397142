import { type Kysely, sql } from 'kysely'
import type { MadeCheckpoint, VerificationRun } from '../../../schema/finance.ts'
import { readLatestCheckpoint } from '../../audit/checkpoint.ts'
import { readEventTime } from '../../audit/reports/period.ts'
import { readTrialBalance } from '../../audit/reports/trial-balance.ts'
import type { AuditParts } from '../../audit/routes/requests.ts'
import { newestVerification } from '../../audit/verify/verifications.ts'
import { clockAhead, headOf } from '../../db/head.ts'
import { type Instance, readInstances } from '../../db/queries/instances.ts'
import type { Tables } from '../../db/tables.ts'
import { currentMode } from '../../features/app-status/reads.ts'
import { countOpenProposals } from '../../features/proposals/reads.ts'
import { type MonthsToClose, readMonthsToClose } from '../reports/months.ts'

/** The kinds of accounts that the home page adds up, in the order of its columns. */
export const shownKinds = [
  'issuance',
  'purchases',
  'user',
  'debt',
  'room',
  'house',
  'game',
  'withdrawal',
  'settled',
] as const

/** What one currency comes to, in its smallest unit. */
export interface CurrencyFigures {
  readonly currency: string
  readonly byKind: Readonly<Record<(typeof shownKinds)[number], bigint>>
  /** The sum of all accounts: zero, or the books are wrong. */
  readonly total: bigint
}

export interface WaitingWithdrawals {
  readonly status: 'pending' | 'approved'
  readonly wallet: string
  readonly count: number
  /** Cents. */
  readonly amount: bigint
  /** Microseconds since 1970, of the oldest. */
  readonly oldest: number
  readonly overOneDay: number
  readonly overOneWeek: number
}

export interface HomeFigures {
  readonly currencies: readonly CurrencyFigures[]
  readonly position: number
  /** Microseconds since 1970; null for an empty ledger. */
  readonly lastEventAt: number | null
  readonly eventsPerMinute: number
  /** How far the ledger's time is ahead of the database's clock. */
  readonly secondsAhead: number
  readonly withdrawals: readonly WaitingWithdrawals[]
  readonly openGames: number
  readonly openProposals: number
  readonly monthsToClose: MonthsToClose
  readonly maintenance: boolean
  readonly instances: readonly Instance[]
  /** The newest one; null before the first. */
  readonly verification: VerificationRun | null
  readonly checkpoint: MadeCheckpoint | null
}

/** All of it from tables that are read by an index or are small, but for balances, of which there is a row an account. */
export async function readHomeFigures(db: Kysely<Tables>, { jobs, checkpoints }: AuditParts): Promise<HomeFigures> {
  const [
    balance,
    end,
    eventsPerMinute,
    secondsAhead,
    withdrawals,
    games,
    openProposals,
    monthsToClose,
    mode,
    instances,
    verification,
    checkpoint,
  ] = await Promise.all([
    readTrialBalance(db),
    readEnd(db),
    countEventsOfLastMinute(db),
    clockAhead(db),
    readWaitingWithdrawals(db),
    db
      .selectFrom('roulette_open_games')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
    countOpenProposals(db),
    readMonthsToClose(db, new Date().toISOString()),
    currentMode(db),
    readInstances(db),
    newestVerification(jobs),
    readLatestCheckpoint(db, checkpoints),
  ])
  return {
    currencies: balance.currencies.map(({ currency, accounts, total }) => ({
      currency,
      byKind: sumsByKind(accounts),
      total,
    })),
    position: end.position,
    lastEventAt: end.at,
    eventsPerMinute,
    secondsAhead,
    withdrawals,
    openGames: games.count,
    openProposals,
    monthsToClose,
    maintenance: mode?.maintenance ?? false,
    instances,
    verification,
    checkpoint,
  }
}

/** The time is that of the last event: the head's own moves with every command, also those that make no event. */
async function readEnd(db: Kysely<Tables>): Promise<{ readonly position: number; readonly at: number | null }> {
  const position = await headOf(db)
  return { position, at: await readEventTime(db, position) }
}

function sumsByKind(
  accounts: readonly { readonly kind: string; readonly balance: bigint }[],
): CurrencyFigures['byKind'] {
  const sumOf = (kind: string): bigint => accounts.find((one) => one.kind === kind)?.balance ?? 0n
  return {
    issuance: sumOf('issuance'),
    purchases: sumOf('purchases'),
    user: sumOf('user'),
    debt: sumOf('debt'),
    room: sumOf('room'),
    house: sumOf('house'),
    game: sumOf('game'),
    withdrawal: sumOf('withdrawal'),
    settled: sumOf('settled'),
  }
}

/** Times rise with positions, so that the first event of the last minute is found by halving. */
async function countEventsOfLastMinute(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with recursive head as (select position from ledger_head),
    search (low, high) as (
      select 0::bigint, position from head
      union all
      select case when e.at > now() - interval '1 minute' then low else middle end,
             case when e.at > now() - interval '1 minute' then middle - 1 else high end
      from (select low, high, (low + high + 1) / 2 as middle from search where low < high) s
      join ledger_events e on e.position = s.middle
    )
    select (head.position - min(search.high))::int as count from search, head group by head.position`.execute(db)
  return rows[0]?.count ?? 0
}

async function readWaitingWithdrawals(db: Kysely<Tables>): Promise<WaitingWithdrawals[]> {
  const { rows } = await sql<Omit<WaitingWithdrawals, 'amount'> & { readonly amount: string }>`
    select status, wallet, count(*)::int as count, sum(amount)::text as amount,
           (extract(epoch from min(created_at)) * 1000000)::bigint as oldest,
           (count(*) filter (where created_at < h.time - interval '1 day'))::int as "overOneDay",
           (count(*) filter (where created_at < h.time - interval '7 days'))::int as "overOneWeek"
    from withdrawals, (select greatest(now(), at) as time from ledger_head) h
    where status in ('pending', 'approved') group by status, wallet order by status desc, wallet`.execute(db)
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}
