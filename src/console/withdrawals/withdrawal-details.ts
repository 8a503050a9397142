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
} from '../../features/agency/dollars.ts'
import { findWithdrawal } from '../../features/agency/reads.ts'
import { statusMovements } from '../../features/agency/withdrawals/change-status.ts'
import { unseal, type Viewer } from '../../features/agency/withdrawals/vault-access.ts'
import type { NamedWithdrawal, Withdrawal } from '../../features/agency/withdrawals/withdrawal.ts'
import { currencyOf, type Movement } from '../../ledger/rules/account.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { openRecords } from '../../vault/reads.ts'
import type { Vault } from '../../vault/vault.ts'
import { movementsTable, positionsOf, readEventsAt } from '../events/stored-events.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  type Facts,
  formatWord,
  sentenceCase,
  statusCell,
  textCell,
  timeCell,
  withSuffix,
  wordCell,
} from '../layout/cells.ts'
import { accountCell, actorCell, eventCell, personCell } from '../layout/links.ts'
import { numberPart, part, partTable, type Table } from '../lists/list.ts'
import { toneOf } from './withdrawal-list.ts'

/** A change of the status of a request; its first one is the request itself. */
interface StatusChange {
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
interface AccountState {
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
  const moved = await positionsOf(db, own, { first: withdrawal_id, last: changed })
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

export function factsOf({ withdrawal, user, target, beneficiary, country }: WithdrawalDetails): Facts {
  const { type, wallet, amount, diamonds_per_dollar, created_at } = withdrawal
  return [
    ['Amount', amountCell(wallet, amount)],
    ['From', textCell(`wallet of ${formatWord(wallet)}`)],
    ['Requester', personCell(user.id, user.name)],
    [type === 'cash' ? 'Business manager' : 'Charging agent', personCell(target.id, target.name)],
    ...(beneficiary === null ? [] : [['Diamonds go to', personCell(beneficiary.id, beneficiary.name)] as const]),
    ['Type', wordCell(type)],
    ...(diamonds_per_dollar === null
      ? []
      : [['Rate', textCell(`${diamonds_per_dollar.toLocaleString('en')} diamonds a dollar`)] as const]),
    ['Country', textCell(country.name || `Country ${country.id}`)],
    ['Requested', timeCell(created_at)],
  ]
}

export const decisionFact = ({ to, actor, at }: StatusChange): readonly [string, Cell] => [
  to === 'pending' ? 'Requested by' : `${sentenceCase(to)} by`,
  to === 'pending' ? actorCell(actor) : withSuffix(actorCell(actor), timeCell(at)),
]

export function writtenFacts({
  bank_details,
  payment_method,
  user_notice,
}: WithdrawalDetails['written']): Facts | null {
  const facts: Facts = [
    ...(bank_details === null
      ? []
      : ([
          ['Bank', textCell(bank_details.bank_name)],
          ['Account holder', textCell(bank_details.account_name)],
          ['Account number', codeCell(bank_details.account_number)],
        ] as const)),
    ...(payment_method === null ? [] : [['Payment method', textCell(payment_method)] as const]),
    ...(user_notice === null ? [] : [['Notice of the requester', textCell(user_notice)] as const]),
  ]
  return facts.length === 0 ? null : facts
}

const parties = { requester: 'requester', target: 'agent or manager', staff: 'staff' } as const

export const timelineOf = (changes: readonly StatusChange[]): Table =>
  partTable<StatusChange>({
    label: 'Timeline',
    empty: 'There are no events of this request.',
    columns: [
      part('When', ({ at }) => timeCell(at)),
      part('Status', ({ to }) => statusCell(to, toneOf(to))),
      part('Who', ({ actor }) => actorCell(actor)),
      part('As', ({ by }) => textCell(parties[by])),
      part('Note', ({ note, isNoteLost }) => textCell(isNoteLost ? '(erased, or cannot be read)' : note)),
      part('Event', ({ position }) => eventCell(position)),
    ],
    rows: changes,
  })

export const movementsOf = (changes: readonly StatusChange[]): Table =>
  movementsTable({
    label: 'Movements',
    empty: 'No dollars have moved. Those of a pending request are on hold in the wallet.',
    rows: changes.flatMap(({ position, movements }) => movements.map((movement) => ({ ...movement, position }))),
  })

export const accountsTable = (accounts: readonly AccountState[]): Table =>
  partTable<AccountState>({
    label: 'Accounts',
    empty: '',
    columns: [
      part('Account', ({ account }) => accountCell(account)),
      numberPart('Balance now', ({ account, balance }) => amountCell(currencyOf(account), balance)),
      numberPart('On hold, all requests', ({ account, held }) => amountCell(currencyOf(account), held)),
    ],
    rows: accounts,
  })

/** What a status change would do to each account, from what to what. */
export function effectsOf(withdrawal: Withdrawal, to: WithdrawalStatus, accounts: readonly AccountState[]): Table {
  const movements = statusMovements(withdrawal, to)
  const released = withdrawal.status === 'pending' ? BigInt(withdrawal.amount) : 0n
  const changeOf = (account: string): bigint =>
    movements.reduce(
      (sum, { debit, credit, amount }) =>
        sum + (credit === account ? BigInt(amount) : 0n) - (debit === account ? BigInt(amount) : 0n),
      0n,
    )
  const rows = accounts.flatMap(({ account, balance, held }) => {
    const change = changeOf(account)
    return [
      ...(change === 0n ? [] : [{ account, what: 'Balance', before: balance, after: balance + change }]),
      ...(released === 0n || held === 0n ? [] : [{ account, what: 'On hold', before: held, after: held - released }]),
    ]
  })
  return partTable<(typeof rows)[number]>({
    label: 'What changes',
    empty: 'No balance changes.',
    columns: [
      part('Account', ({ account }) => accountCell(account)),
      part('What', ({ what }) => textCell(what)),
      numberPart('Now', ({ account, before }) => amountCell(currencyOf(account), before)),
      numberPart('Then', ({ account, after }) => amountCell(currencyOf(account), after)),
    ],
    rows,
  })
}
