import type { WithdrawalType } from '../../../../schema/agency-events.ts'
import type { LocalizedText } from '../../../../schema/languages.ts'
import { fieldMessages, type Messages } from '../../../language/messages.ts'
import { available, balanceKeys } from '../../../ledger/rules/account.ts'
import { keyOf, type State } from '../../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../../ledger/rules/verb.ts'
import { inboxKey } from '../../../notifications/inbox.ts'
import { type SealedRecord, storeRecord } from '../../../vault/record.ts'
import { countries } from '../../users/country.ts'
import { userProfiles, users } from '../../users/user.ts'
import { dollarWallet, walletAccount } from '../dollars.ts'
import { type NamedWithdrawal, namesIn, nameWithdrawal, withdrawals } from './withdrawal.ts'

export interface RequestWithdrawal {
  readonly caller_id: number
  readonly type: WithdrawalType
  /** The charging agent or the business manager. */
  readonly target_id: number
  /** The receiver of the diamonds; null for cash. */
  readonly beneficiary_id: number | null
  readonly country_id: number
  /** Cents. */
  readonly amount: number
  readonly agent_benefit: boolean
  /** The digest of the sealed details. */
  readonly details: string | null
}

export const requestRefusals = ['validation_failed', 'insufficient_balance'] as const

/**
 * Puts dollars on hold until an agent, a manager or an operator decides. `details` is the sealed text of the requester,
 * stored only if the request is made. Refusals, in this order: `validation_failed` (addressee, beneficiary, country),
 * `insufficient_balance`.
 */
export const requestWithdrawal = (
  details: SealedRecord | null,
): Verb<RequestWithdrawal, NamedWithdrawal, typeof requestRefusals> => ({
  refusals: requestRefusals,
  reads: (input) => [
    ...[input.caller_id, input.target_id, ...beneficiaryIds(input)].map((id) => keyOf(userProfiles, id)),
    ...[input.target_id, ...beneficiaryIds(input)].map((id) => keyOf(users, id)),
    keyOf(countries, input.country_id),
    inboxKey(input.target_id),
    ...balanceKeys(callerWallet(input)),
  ],

  decide(state, input) {
    const { caller_id, type, target_id, beneficiary_id, country_id, amount } = input
    const errors = validationErrors(state, input)
    if (Object.keys(errors).length > 0) return refuse('validation_failed', errors)
    if (available(state, callerWallet(input)) < BigInt(amount)) return refuse('insufficient_balance')
    return [
      {
        type: 'withdrawal-requested',
        data: {
          type,
          user_id: caller_id,
          target_id,
          beneficiary_id,
          country_id,
          wallet: dollarWallet(input.agent_benefit),
          amount,
          diamonds_per_dollar: agentRate(state, input),
          details: details?.record_id ?? null,
        },
        movements: [],
      },
    ]
  },

  sideWrites(state) {
    if (details !== null) storeRecord(state, details)
  },

  result(state, _input, [requested]) {
    const withdrawal = requested && state.get(withdrawals, String(requested.position))
    if (withdrawal === undefined) throw new Error('no request was made')
    return nameWithdrawal(withdrawal, namesIn(state))
  },
})

const callerWallet = ({ caller_id, agent_benefit }: RequestWithdrawal) =>
  walletAccount(caller_id, dollarWallet(agent_benefit))

const beneficiaryIds = ({ beneficiary_id }: RequestWithdrawal): number[] =>
  beneficiary_id === null ? [] : [beneficiary_id]

/** The agent's rate for the country, in diamonds per dollar; null for cash, and if the agent does not serve it. */
function agentRate(state: State, { type, target_id, country_id }: RequestWithdrawal): number | null {
  if (type === 'cash') return null
  const served = state.get(users, String(target_id))?.agency_countries.find((one) => one.country_id === country_id)
  return served?.diamonds_per_dollar ?? null
}

function validationErrors(state: State, input: RequestWithdrawal): Record<string, LocalizedText[]> {
  const target = targetErrors(state, input)
  const unknownBeneficiary = beneficiaryIds(input).some((id) => state.get(users, String(id)) === undefined)
  const unknownCountry = state.get(countries, String(input.country_id)) === undefined
  return {
    ...(target.length > 0 && { [input.type === 'cash' ? 'business_manager_id' : 'target_user_id']: target }),
    ...(unknownBeneficiary && { beneficiary_user_id: [fieldMessages.unknown_user] }),
    ...(unknownCountry && { country_id: [fieldMessages.unknown_country] }),
  }
}

const messages = {
  other_user: { en: 'This must be another user.', ar: 'يجب اختيار مستخدم آخر غيرك.' },
  not_a_manager: { en: 'This user is not a business manager.', ar: 'هذا المستخدم ليس مدير أعمال.' },
  not_an_agent: { en: 'This user is not a charging agent.', ar: 'هذا المستخدم ليس وكيل شحن.' },
  accepts_no_requests: { en: 'This agent does not accept requests.', ar: 'هذا الوكيل لا يستقبل الطلبات.' },
  country_not_served: { en: 'This agent does not serve this country.', ar: 'هذا الوكيل لا يخدم هذه الدولة.' },
} satisfies Messages

function targetErrors(state: State, input: RequestWithdrawal): LocalizedText[] {
  const { caller_id, target_id, type } = input
  const target = state.get(users, String(target_id))
  const selfErrors = target_id === caller_id ? [messages.other_user] : []
  if (type === 'cash') return target?.business_manager === true ? selfErrors : [messages.not_a_manager, ...selfErrors]
  if (target?.charging_agent !== true) return [messages.not_an_agent, ...selfErrors]
  return [
    ...(target.allow_receive_withdraw_requests ? [] : [messages.accepts_no_requests]),
    ...(agentRate(state, input) === null ? [messages.country_not_served] : []),
    ...selfErrors,
  ]
}
