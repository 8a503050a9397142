import type { DollarWallet, WithdrawalStatus, WithdrawalType } from '../../../../schema/agency-events.ts'
import type { Person } from '../../../../schema/common.ts'
import type { StoredName } from '../../../language/names.ts'
import { balances, hold } from '../../../ledger/rules/account.ts'
import type { Evolver } from '../../../ledger/rules/event.ts'
import {
  integer,
  micros,
  nullable,
  projection,
  type RowOf,
  type State,
  text,
} from '../../../ledger/rules/projection.ts'
import { versionOfValues } from '../../../ledger/rules/stored-values.ts'
import { countries } from '../../users/country.ts'
import { userProfiles } from '../../users/user.ts'
import { walletAccount, withdrawalAccount } from '../dollars.ts'

/** A request for dollars to be paid out by a charging agent (in diamonds) or a business manager (in cash). */
export const withdrawals = projection('withdrawals', {
  /** Position of the event that made it. */
  withdrawal_id: integer(),
  type: text<WithdrawalType>(),
  status: text<WithdrawalStatus>(),
  user_id: integer(),
  /** The agent or manager that the request is addressed to. */
  target_id: integer(),
  /** The receiver of the diamonds of a gold_agent request; null for cash. */
  beneficiary_id: nullable(integer()),
  country_id: integer(),
  wallet: text<DollarWallet>(),
  /** Cents. */
  amount: integer(),
  /** The agent's rate at the time of the request; null for cash. */
  diamonds_per_dollar: nullable(integer()),
  /** The vault record with the details that the requester wrote. */
  details: nullable(text()),
  /** The vault record with the note of the last change. */
  note: nullable(text()),
  created_at: micros(),
  changed_at: micros(),
  /** Position of the event that made or last changed it. */
  changed: integer(),
  /** Position of the event that approved it; null where none did. */
  approved: nullable(integer()),
})

export type Withdrawal = RowOf<typeof withdrawals>

/** The version of what decides which dollars a change of the status moves. */
export const withdrawalVersion = ({ withdrawal_id, status, changed }: Withdrawal): string =>
  versionOfValues({ withdrawal_id, status, changed })

/** A request with the names of those it is about. */
export interface NamedWithdrawal {
  readonly withdrawal: Withdrawal
  readonly user: Person
  readonly target: Person
  readonly beneficiary: Person | null
  readonly country: NamedCountry
}

export const nameWithdrawal = (withdrawal: Withdrawal, { person, country }: NameLookup): NamedWithdrawal => ({
  withdrawal,
  user: person(withdrawal.user_id),
  target: person(withdrawal.target_id),
  beneficiary: withdrawal.beneficiary_id === null ? null : person(withdrawal.beneficiary_id),
  country: country(withdrawal.country_id),
})

/** Throws on events that no verb could have written: a change from another status, or with the wrong dollars on hold. */
export const evolveWithdrawals: Evolver = {
  'withdrawal-requested': (state, { data, position, at }) => {
    hold(state, walletAccount(data.user_id, data.wallet), data.amount)
    state.set(withdrawals, String(position), {
      withdrawal_id: position,
      ...data,
      status: 'pending',
      note: null,
      created_at: at,
      changed_at: at,
      approved: null,
      changed: position,
    })
  },
  'withdrawal-status-changed': (state, { data, position, at }) => {
    const { withdrawal_id, user_id, wallet, amount, from, to, note } = data
    const before = state.get(withdrawals, String(withdrawal_id))
    if (before === undefined) throw new Error(`there is no withdrawal ${withdrawal_id}`)
    if (before.status !== from) throw new Error(`withdrawal ${withdrawal_id} is ${before.status} instead of ${from}`)
    if (before.user_id !== user_id || before.wallet !== wallet || before.amount !== amount) {
      throw new Error(`withdrawal ${withdrawal_id} has another user, wallet or amount`)
    }
    if (from === 'pending') hold(state, walletAccount(user_id, wallet), -amount)
    if (from === 'approved' || to === 'approved')
      assertAccountHolds(state, withdrawal_id, to === 'approved' ? amount : 0)
    const approved = to === 'approved' ? position : before.approved
    const after = { ...before, status: to, note, changed_at: at, approved, changed: position }
    state.set(withdrawals, String(withdrawal_id), after)
  },
}

function assertAccountHolds(state: State, withdrawalId: number, amount: number): void {
  const name = withdrawalAccount(withdrawalId)
  const balance = state.get(balances, name)?.balance ?? 0n
  if (balance !== BigInt(amount)) throw new Error(`${name} holds ${balance} instead of ${amount}`)
}

/** Looks up people and countries for responses. */
interface NameLookup {
  readonly person: (userId: number) => Person
  readonly country: (countryId: number) => NamedCountry
}

export interface NamedCountry extends StoredName {
  readonly id: number
}

/** A person without a profile: the id remains when the name was erased. */
export const unnamedPerson = (id: number): Person => ({ id, name: '', uid: '', avatar: '' })

/** The name of what is unknown. */
export const unnamed: StoredName = { name: '', name_ar: null }

/** In the rows that a verb has read. */
export const namesIn = (state: State): NameLookup => ({
  person: (id) => {
    const profile = state.get(userProfiles, String(id))
    return profile === undefined
      ? unnamedPerson(id)
      : { id, name: profile.name, uid: profile.uid, avatar: profile.avatar }
  },
  country: (id) => {
    const { name, name_ar } = state.get(countries, String(id)) ?? unnamed
    return { id, name, name_ar }
  },
})
