import type { Pool } from 'pg'
import type { Withdrawal as PublishedWithdrawal } from '../../../../schema/agency.ts'
import type { Person } from '../../../../schema/common.ts'
import type { Country } from '../../../../schema/people.ts'
import type { InstantTransfer } from '../../../../src/features/agency/instant-transfer.ts'
import { openRecord, transferRecord } from '../../../../src/features/agency/presenters.ts'
import type { Withdrawal } from '../../../../src/features/agency/withdrawals/withdrawal.ts'
import type { Vault } from '../../../../src/vault/vault.ts'
import { microsOf, personOf, prepared } from './prepared.ts'

type Details = Pick<PublishedWithdrawal, 'bank_details' | 'payment_method' | 'user_notice'>

/** With its people, its country, and its two vault records where there are some. */
type WithdrawalRow = Withdrawal & {
  readonly requester: Person
  readonly target: Person
  readonly beneficiary: Person | null
  readonly country: Country
  readonly details_sealed: string | null
  readonly details_key: string | null
  readonly note_sealed: string | null
  readonly note_key: string | null
}

const withdrawalRows = prepared<WithdrawalRow>(
  'withdrawals',
  `select w.withdrawal_id, w.type, w.status, w.user_id, w.target_id, w.beneficiary_id, w.country_id, w.wallet, w.amount,
          w.diamonds_per_dollar, w.details, w.note, w.changed,
          ${microsOf('w.created_at')} as created_at, ${microsOf('w.changed_at')} as changed_at,
          ${personOf('u')} as requester, ${personOf('t')} as target, ${personOf('b')} as beneficiary,
          json_build_object('id', c.country_id, 'name', c.name) as country,
          d.sealed as details_sealed, dk.wrapped as details_key, n.sealed as note_sealed, nk.wrapped as note_key
   from withdrawals w
   join user_profiles u on u.user_id = w.user_id
   join user_profiles t on t.user_id = w.target_id
   left join user_profiles b on b.user_id = w.beneficiary_id
   join countries c on c.country_id = w.country_id
   left join vault_records d on d.record_id = w.details
   left join vault_keys dk on dk.record_id = w.details
   left join vault_records n on n.record_id = w.note
   left join vault_keys nk on nk.record_id = w.note
   where w.user_id = $1
   order by w.withdrawal_id desc limit $2`,
)

const noDetails: Details = { bank_details: null, payment_method: null, user_notice: null }

/** The user's newest requests, with what is in the vault. */
export async function readWithdrawals(
  pool: Pool,
  vault: Vault,
  userId: number,
  limit: number,
  assetBaseUrl: string,
): Promise<PublishedWithdrawal[]> {
  const rows = await withdrawalRows(pool, userId, limit)
  return rows.map((row) => {
    const { requester: user, target, beneficiary, country } = row
    const open = (record_id: string | null, sealed: string | null, wrapped: string | null): string | null =>
      record_id === null || sealed === null || wrapped === null
        ? null
        : vault.open({ record_id, user_id: row.user_id, sealed, wrapped })
    const text = open(row.details, row.details_sealed, row.details_key)
    const details: Details = text === null ? noDetails : JSON.parse(text)
    const note = open(row.note, row.note_sealed, row.note_key)
    return {
      ...openRecord(
        { withdrawal: row, user, target, beneficiary, country: { ...country, name_ar: null } },
        { assetBaseUrl, language: 'en' },
      ),
      ...details,
      note,
    }
  })
}

const transferRows = prepared<InstantTransfer & { readonly user: Person; readonly receiver: Person }>(
  'transfers',
  `select t.transfer_id, t.user_id, t.receiver_id, t.wallet, t.amount, t.rate, t.diamonds,
          ${microsOf('t.created_at')} as created_at, ${personOf('u')} as user, ${personOf('r')} as receiver
   from instant_transfers t
   join user_profiles u on u.user_id = t.user_id
   join user_profiles r on r.user_id = t.receiver_id
   where t.user_id = $1
   order by t.transfer_id desc limit $2`,
)

/** The user's newest instant transfers. */
export async function readTransfers(pool: Pool, userId: number, limit: number, assetBaseUrl: string) {
  const rows = await transferRows(pool, userId, limit)
  return rows.map(({ user, receiver, ...transfer }) => transferRecord({ transfer, user, receiver }, assetBaseUrl))
}
