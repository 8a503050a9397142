import { type Kysely, sql } from 'kysely'
import type { Withdrawal as ShownWithdrawal } from '../../../schema/agency.ts'
import type { WithdrawalParty, WithdrawalStatus } from '../../../schema/agency-events.ts'
import type { Tables } from '../../db/tables.ts'
import {
  AGENT_DOLLARS_CLEARING,
  DOLLARS_CLEARING,
  settlementAccount,
  walletAccount,
  withdrawalAccount,
} from '../../features/agency/accounts.ts'
import { findWithdrawal } from '../../features/agency/reads.ts'
import { unseal, type Viewer } from '../../features/agency/withdrawals/vault-access.ts'
import type { NamedWithdrawal, Withdrawal } from '../../features/agency/withdrawals/withdrawal.ts'
import type { Movement } from '../../ledger/rules/account.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { openRecords } from '../../vault/reads.ts'
import type { Vault } from '../../vault/vault.ts'
import { positionsOf, readEventsAt } from '../events/stored-events.ts'

/** A change of the status of a request; its first one is the request itself. */
export interface StatusChange {
  readonly position: number
  readonly at: Micros
  readonly to: WithdrawalStatus
  readonly actor: string
  readonly by: WithdrawalParty
  /** Null where there is none, or where it was erased or cannot be read, which `isNoteLost` says. */
  readonly note: string | null
  readonly isNoteLost: boolean
  readonly movements: readonly Movement[]
}

/** An account that a request has dollars on, or may bring them to. */
export interface AccountState {
  readonly account: string
  /** Cents. */
  readonly balance: bigint
  /** Cents on hold for all requests of its user. */
  readonly held: bigint
}

export interface WithdrawalDetails extends NamedWithdrawal {
  /** What the requester wrote, as this viewer may see it. */
  readonly written: Pick<ShownWithdrawal, 'bank_details' | 'payment_method' | 'user_notice' | 'unreadable'>
  /** Oldest first. */
  readonly changes: readonly StatusChange[]
  readonly accounts: readonly AccountState[]
}

/** A request with all that happened to it; undefined when there is none with this id. */
export async function readWithdrawalDetails(
  db: Kysely<Tables>,
  vault: Vault,
  id: number,
  viewer: Viewer,
): Promise<WithdrawalDetails | undefined> {
  const named = await findWithdrawal(db, id)
  if (named === undefined) return undefined
  const { type, details, note } = named.withdrawal
  const [[written], changes, accounts] = await Promise.all([
    unseal(db, vault, [{ type, sealed: { details, note } }], { viewer }),
    readChanges(db, vault, named.withdrawal),
    readAccounts(db, accountsOf(named.withdrawal)),
  ])
  if (written === undefined) throw new Error(`withdrawal ${id} was not unsealed`)
  return { ...named, written, changes, accounts }
}

/** All events of a request: it was made, changed last, and moves its own account in every change but an early rejection. */
async function readChanges(db: Kysely<Tables>, vault: Vault, withdrawal: Withdrawal): Promise<StatusChange[]> {
  const { withdrawal_id, changed } = withdrawal
  const own = withdrawalAccount(withdrawal_id)
  const moved = await positionsOf(db, own, { first: withdrawal_id, last: changed, maxBlocks: MAX_BLOCKS })
  const events = await readEventsAt(db, [withdrawal_id, ...moved, changed])
  const noteIds = events.map((event) => (event.type === 'withdrawal-status-changed' ? event.data.note : null))
  const notes = await openRecords(
    db,
    vault,
    noteIds.filter((note) => note !== null),
  )
  return events.flatMap((event): StatusChange[] => {
    const { position, at, movements, entry } = event
    const common = { position, at, movements, actor: entry.actor }
    if (event.type === 'withdrawal-requested') {
      return [{ ...common, to: 'pending', by: 'requester', note: null, isNoteLost: false }]
    }
    if (event.type !== 'withdrawal-status-changed') return []
    const { to, by, note } = event.data
    const text = note === null ? null : (notes.get(note) ?? null)
    return [{ ...common, to, by, note: text, isNoteLost: note !== null && text === null }]
  })
}

/** An account has a block for every 500 events in which it moves, and a request moves it twice. */
const MAX_BLOCKS = 4

const accountsOf = ({ withdrawal_id, user_id, target_id, wallet }: Withdrawal): readonly string[] => [
  walletAccount(user_id, wallet),
  ...(wallet === 'agent_dollars' ? [AGENT_DOLLARS_CLEARING, DOLLARS_CLEARING] : []),
  withdrawalAccount(withdrawal_id),
  settlementAccount(target_id),
]

/** In the order given; 0 without movements. */
async function readAccounts(db: Kysely<Tables>, accounts: readonly string[]): Promise<AccountState[]> {
  const { rows } = await sql<{ account: string; balance: string; held: string }>`
    select a.account, coalesce(b.balance, 0)::text as balance, coalesce(h.held, 0)::text as held
    from unnest(${[...accounts]}::text[]) with ordinality as a (account, number)
    left join balances b on b.account = a.account
    left join holds h on h.account = a.account
    order by a.number`.execute(db)
  return rows.map(({ account, balance, held }) => ({ account, balance: BigInt(balance), held: BigInt(held) }))
}
