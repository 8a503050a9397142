import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import type { Kysely } from 'kysely'
import type { InstantTransfer } from '../../../../schema/agency.ts'
import { DollarWallet, WithdrawalStatus, WithdrawalType } from '../../../../schema/agency-events.ts'
import type { Person } from '../../../../schema/common.ts'
import type { Language } from '../../../../schema/languages.ts'
import { BatchedLookup, requestLimits } from '../../../db/queries/batched-lookup.ts'
import { microsOf } from '../../../db/queries/expressions.ts'
import { listOf, PreparedStatement } from '../../../db/queries/query-builder.ts'
import type { Tables } from '../../../db/tables.ts'
import type { StoredRecord } from '../../../vault/reads.ts'
import { type PresentationOptions, type SealedWithdrawal, sealedRecord, transferRecord } from '../presenters.ts'
import type { WithdrawalFilter } from '../reads.ts'
import { unnamedPerson } from './withdrawal.ts'

type Db = Kysely<Tables>

/** Pages read with one query. Limited because each may have hundreds of rows. */
const MAX_PAGES_PER_QUERY = 32

/** A page of a user's own list: rows before an id (null: from the newest), newest first. */
interface OwnPage {
  readonly userId: number
  readonly limit: number
  readonly before: number | null
}

/** The lists `$1` to `$3` that all statements here take, of as many pages. */
const pageLists = (pages: readonly OwnPage[]): readonly (readonly number[])[] => [
  pages.map(({ userId }) => userId),
  pages.map(({ limit }) => limit),
  pages.map(({ before }) => before ?? Number.MAX_SAFE_INTEGER),
]

/** The rows of each page, by the page's place from 1. */
function pagesOf<Row extends { readonly place: number }>(pages: readonly OwnPage[], rows: readonly Row[]): Row[][] {
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return pages.map((_page, i) => byPlace.get(i + 1) ?? [])
}

/** A person's profile as columns of a statement; null for a person without one. */
type NameColumns<Prefix extends string> = { readonly [C in `${Prefix}_${'name' | 'uid' | 'avatar'}`]: string | null }

const nameColumns = (prefix: string): string =>
  ['name', 'uid', 'avatar'].map((column) => `${prefix}.${column} as ${prefix}_${column}`).join(', ')

const personOf = (id: number, name: string | null, uid: string | null, avatar: string | null): Person =>
  name === null || uid === null || avatar === null ? unnamedPerson(id) : { id, name, uid, avatar }

/** A record of the vault as columns of a statement, all null where there is none. */
type RecordColumns<Prefix extends string> = { readonly [C in `${Prefix}_${'sealed' | 'wrapped'}`]: string | null } & {
  readonly [C in `${Prefix}_user_id`]: number | null
}

const recordColumns = (prefix: string): string =>
  `${prefix}.sealed as ${prefix}_sealed, ${prefix}_key.wrapped as ${prefix}_wrapped, ${prefix}_key.user_id as ${prefix}_user_id`

const recordJoins = (prefix: string): string =>
  `left join vault_records ${prefix} on ${prefix}.record_id = w.${prefix}
   left join vault_keys ${prefix}_key on ${prefix}_key.record_id = w.${prefix}`

/** A page of the requests of a user, or of those addressed to the user when they are `received`. */
export interface OwnWithdrawals extends OwnPage, WithdrawalFilter {
  readonly received: boolean
}

interface WithdrawalRow extends NameColumns<'owner' | 'target' | 'beneficiary'>, RecordColumns<'details' | 'note'> {
  readonly place: number
  readonly withdrawal_id: number
  readonly type: string
  readonly status: string
  readonly user_id: number
  readonly target_id: number
  readonly beneficiary_id: number | null
  readonly country_id: number
  readonly wallet: string
  readonly amount: number
  readonly diamonds_per_dollar: number | null
  readonly details: string | null
  readonly note: string | null
  readonly created_at: number
  readonly changed_at: number
  readonly approved: number | null
  readonly changed: number
  readonly country_name: string | null
  readonly country_name_ar: string | null
}

/** `$4` to `$6`: types, statuses and wallets, null for all. */
const withdrawalPages = (name: string, user: 'user_id' | 'target_id') =>
  new PreparedStatement<WithdrawalRow>(
    name,
    `select requested.place, w.*, ${nameColumns('owner')}, ${nameColumns('target')}, ${nameColumns('beneficiary')},
            country.name as country_name, country.name_ar as country_name_ar, ${recordColumns('details')}, ${recordColumns('note')}
     from unnest(${listOf('$1', 'bigint')}, ${listOf('$2', 'bigint')}, ${listOf('$3', 'bigint')},
                 ${listOf('$4', 'text')}, ${listOf('$5', 'text')}, ${listOf('$6', 'text')})
       with ordinality as requested (user_id, size, before, type, status, wallet, place)
     cross join lateral (
       select w.withdrawal_id, w.type, w.status, w.user_id, w.target_id, w.beneficiary_id, w.country_id, w.wallet,
              w.amount, w.diamonds_per_dollar, w.details, w.note, ${microsOf('w.created_at')} as created_at,
              ${microsOf('w.changed_at')} as changed_at, w.approved, w.changed
       from withdrawals w
       where w.${user} = requested.user_id and w.withdrawal_id < requested.before
         and (requested.type is null or w.type = requested.type)
         and (requested.status is null or w.status = requested.status)
         and (requested.wallet is null or w.wallet = requested.wallet)
       order by w.withdrawal_id desc
       limit requested.size) w
     left join user_profiles owner on owner.user_id = w.user_id
     left join user_profiles target on target.user_id = w.target_id
     left join user_profiles beneficiary on beneficiary.user_id = w.beneficiary_id
     left join countries country on country.country_id = w.country_id
     ${recordJoins('details')}
     ${recordJoins('note')}
     order by w.withdrawal_id desc`,
  )

const sentPages = withdrawalPages('withdrawals of users', 'user_id')
const receivedPages = withdrawalPages('withdrawals addressed to users', 'target_id')

/** A request, and its records of the vault that have not been erased. */
export interface WithdrawalWithRecords {
  readonly withdrawal: SealedWithdrawal
  readonly records: readonly StoredRecord[]
}

/** Pages of withdrawals, those requested at the same time with one query for each direction. */
export function withdrawalLookup(
  db: Db,
  assetBaseUrl: () => string,
): (page: OwnWithdrawals, language: Language) => Promise<WithdrawalWithRecords[]> {
  const lookupWith = (statement: PreparedStatement<WithdrawalRow>) =>
    new BatchedLookup(
      MAX_PAGES_PER_QUERY,
      async (pages: readonly OwnWithdrawals[]) => {
        const rows = await statement.execute(db, [
          ...pageLists(pages),
          pages.map(({ type }) => type ?? null),
          pages.map(({ status }) => status ?? null),
          pages.map(({ wallet }) => wallet ?? null),
        ])
        return pagesOf(pages, rows)
      },
      requestLimits(db),
    )
  const sent = lookupWith(sentPages)
  const received = lookupWith(receivedPages)
  return async (page, language) => {
    const rows = await (page.received ? received : sent).load(page)
    const options = { assetBaseUrl: assetBaseUrl(), language }
    return rows.map((row) => ({ withdrawal: toWithdrawal(row, options), records: recordsOf(row) }))
  }
}

function recordsOf(row: WithdrawalRow): StoredRecord[] {
  const { details, note } = row
  const records = [
    { record_id: details, sealed: row.details_sealed, user_id: row.details_user_id, wrapped: row.details_wrapped },
    { record_id: note, sealed: row.note_sealed, user_id: row.note_user_id, wrapped: row.note_wrapped },
  ]
  return records.flatMap(({ record_id, ...stored }) =>
    record_id === null || (stored.sealed === null && stored.wrapped === null) ? [] : [{ record_id, ...stored }],
  )
}

const StoredWithdrawal = TypeCompiler.Compile(
  Type.Object({ type: WithdrawalType, status: WithdrawalStatus, wallet: DollarWallet }),
)

function toWithdrawal(row: WithdrawalRow, options: PresentationOptions): SealedWithdrawal {
  if (!StoredWithdrawal.Check(row)) throw new Error(`the stored withdrawal ${row.withdrawal_id} is malformed`)
  const { user_id, target_id, beneficiary_id, country_id } = row
  return sealedRecord(
    {
      withdrawal: row,
      user: personOf(user_id, row.owner_name, row.owner_uid, row.owner_avatar),
      target: personOf(target_id, row.target_name, row.target_uid, row.target_avatar),
      beneficiary:
        beneficiary_id === null
          ? null
          : personOf(beneficiary_id, row.beneficiary_name, row.beneficiary_uid, row.beneficiary_avatar),
      country: { id: country_id, name: row.country_name ?? '', name_ar: row.country_name_ar },
    },
    options,
  )
}

interface TransferRow extends NameColumns<'owner' | 'receiver'> {
  readonly place: number
  readonly transfer_id: number
  readonly user_id: number
  readonly receiver_id: number
  readonly wallet: string
  readonly amount: number
  readonly rate: number
  readonly diamonds: number
  readonly created_at: number
}

const transferPages = (name: string, user: 'user_id' | 'receiver_id') =>
  new PreparedStatement<TransferRow>(
    name,
    `select requested.place, t.*, ${nameColumns('owner')}, ${nameColumns('receiver')}
     from unnest(${listOf('$1', 'bigint')}, ${listOf('$2', 'bigint')}, ${listOf('$3', 'bigint')})
       with ordinality as requested (user_id, size, before, place)
     cross join lateral (
       select t.transfer_id, t.user_id, t.receiver_id, t.wallet, t.amount, t.rate, t.diamonds,
              ${microsOf('t.created_at')} as created_at
       from instant_transfers t
       where t.${user} = requested.user_id and t.transfer_id < requested.before
       order by t.transfer_id desc
       limit requested.size) t
     left join user_profiles owner on owner.user_id = t.user_id
     left join user_profiles receiver on receiver.user_id = t.receiver_id
     order by t.transfer_id desc`,
  )

const sentTransfers = transferPages('instant transfers of users', 'user_id')
const receivedTransfers = transferPages('instant transfers received by users', 'receiver_id')

const StoredTransfer = TypeCompiler.Compile(Type.Object({ wallet: DollarWallet }))

function toTransfer(row: TransferRow, assetBaseUrl: string): InstantTransfer {
  if (!StoredTransfer.Check(row)) throw new Error(`the stored transfer ${row.transfer_id} is malformed`)
  const { user_id, receiver_id } = row
  return transferRecord(
    {
      transfer: row,
      user: personOf(user_id, row.owner_name, row.owner_uid, row.owner_avatar),
      receiver: personOf(receiver_id, row.receiver_name, row.receiver_uid, row.receiver_avatar),
    },
    assetBaseUrl,
  )
}

/** A page of the transfers that a user made, or of those that the user received. */
interface OwnTransfers extends OwnPage {
  readonly received: boolean
}

/** Pages of users' instant transfers, those requested at the same time with one query for each direction. */
export function transferLookup(db: Db, assetBaseUrl: () => string): (page: OwnTransfers) => Promise<InstantTransfer[]> {
  const lookupWith = (statement: PreparedStatement<TransferRow>) =>
    new BatchedLookup(
      MAX_PAGES_PER_QUERY,
      async (pages: readonly OwnPage[]) => pagesOf(pages, await statement.execute(db, pageLists(pages))),
      requestLimits(db),
    )
  const sent = lookupWith(sentTransfers)
  const received = lookupWith(receivedTransfers)
  return async (page) => {
    const rows = await (page.received ? received : sent).load(page)
    const base = assetBaseUrl()
    return rows.map((row) => toTransfer(row, base))
  }
}
