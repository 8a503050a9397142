import type { Country } from '../../../schema/agency.ts'
import type { Person } from '../../../schema/common.ts'
import { centsToDollars } from '../../ledger/rules/money.ts'
import type { State } from '../../ledger/rules/state.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { countries } from '../users/countries/country.ts'
import { userProfiles } from '../users/user.ts'
import type { InstantTransfer } from './instant-transfer.ts'
import type { Withdrawal } from './withdrawals/withdrawal.ts'

type PersonOf = (userId: number) => Person

/** Where the words of a request are found. */
export interface NameLookup {
  readonly person: PersonOf
  readonly country: (countryId: number) => Country
}

/** Words may have been erased; whoever asked or was asked stays. */
export const unnamedPerson = (id: number): Person => ({ id, name: '', uid: '', avatar: '' })

export function personIn(state: State, id: number): Person {
  const profile = state.get(userProfiles, String(id))
  return profile === undefined
    ? unnamedPerson(id)
    : { id, name: profile.name, uid: profile.uid, avatar: profile.avatar }
}

/** Of the rows that a request's verbs ask for. */
export const namesIn = (state: State): NameLookup => ({
  person: (id) => personIn(state, id),
  country: (id) => ({ id, name: state.get(countries, String(id))?.name ?? '' }),
})

/** A request as it is answered, less what is in the vault. */
export function openRecord(withdrawal: Withdrawal, { person, country }: NameLookup) {
  const { type, target_id, beneficiary_id } = withdrawal
  const agent = type === 'gold_agent' ? target_id : null
  const manager = type === 'cash' ? target_id : null
  const personOrNull = (id: number | null): Person | null => (id === null ? null : person(id))
  return {
    id: withdrawal.withdrawal_id,
    type,
    status: withdrawal.status,
    amount_in_dollars: centsToDollars(withdrawal.amount),
    agent_benefit: withdrawal.wallet === 'agent_dollars',
    user: person(withdrawal.user_id),
    target_user: personOrNull(agent),
    beneficiary_user: personOrNull(beneficiary_id),
    business_manager: personOrNull(manager),
    country: country(withdrawal.country_id),
    diamonds_per_dollar: withdrawal.diamonds_per_dollar,
    created_at: isoMicros(withdrawal.created_at),
    updated_at: isoMicros(withdrawal.changed_at),
  }
}

export type OpenRecord = ReturnType<typeof openRecord>

/** As it is remembered: instead of what is in the vault, which records hold it. */
export interface SealedWithdrawal extends OpenRecord {
  readonly sealed: { readonly details: string | null; readonly note: string | null }
}

export const sealedRecord = (withdrawal: Withdrawal, names: NameLookup): SealedWithdrawal => ({
  ...openRecord(withdrawal, names),
  sealed: { details: withdrawal.details, note: withdrawal.note },
})

export const transferRecord = (transfer: InstantTransfer, person: PersonOf) => ({
  id: transfer.transfer_id,
  status: 'approved' as const,
  dollars: centsToDollars(transfer.amount),
  rate: transfer.rate,
  diamonds: transfer.diamonds,
  agent_benefit: transfer.wallet === 'agent_dollars',
  user: person(transfer.user_id),
  receiver: person(transfer.receiver_id),
  created_at: isoMicros(transfer.created_at),
})
