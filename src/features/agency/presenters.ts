import type { Language, LocalizedText } from '../../../schema/languages.ts'
import { nameIn } from '../../language/names.ts'
import { centsToDollars } from '../../ledger/rules/money.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import { withAvatarUrl } from '../asset-url.ts'
import { sharedRefusals } from '../model.ts'
import type { Deposit, DepositRefusal, PaidDeposit, SalaryReport } from './deposit-salaries.ts'
import type { NamedTransfer } from './instant-transfer.ts'
import type { NamedWithdrawal } from './withdrawals/withdrawal.ts'

/** Where the addresses of pictures begin, and the language of names. */
export interface PresentationOptions {
  readonly assetBaseUrl: string
  readonly language: Language
}

/** A request as responses show it, without the fields in the vault. */
function openRecord(named: NamedWithdrawal, { assetBaseUrl, language }: PresentationOptions) {
  const { withdrawal, user, target, beneficiary, country } = named
  const { type } = withdrawal
  const addressee = withAvatarUrl(target, assetBaseUrl)
  return {
    id: withdrawal.withdrawal_id,
    type,
    status: withdrawal.status,
    amount_in_dollars: centsToDollars(withdrawal.amount),
    agent_benefit: withdrawal.wallet === 'agent_dollars',
    user: withAvatarUrl(user, assetBaseUrl),
    target_user: type === 'gold_agent' ? addressee : null,
    beneficiary_user: beneficiary && withAvatarUrl(beneficiary, assetBaseUrl),
    business_manager: type === 'cash' ? addressee : null,
    country: { id: country.id, name: nameIn(country, language) },
    diamonds_per_dollar: withdrawal.diamonds_per_dollar,
    created_at: isoMicros(withdrawal.created_at),
    updated_at: isoMicros(withdrawal.changed_at),
  }
}

type OpenRecord = ReturnType<typeof openRecord>

/** A request as stored with replies: the ids of vault records instead of their plaintext. */
export interface SealedWithdrawal extends OpenRecord {
  readonly sealed: { readonly details: string | null; readonly note: string | null }
}

export const sealedRecord = (named: NamedWithdrawal, options: PresentationOptions): SealedWithdrawal => ({
  ...openRecord(named, options),
  sealed: { details: named.withdrawal.details, note: named.withdrawal.note },
})

/** The body of a reply about one request, as stored; its sealed fields are filled in whenever it is sent. */
export const withdrawalBody = (named: NamedWithdrawal, options: PresentationOptions) => ({
  data: sealedRecord(named, options),
})

export const transferRecord = ({ transfer, user, receiver }: NamedTransfer, assetBaseUrl: string) => ({
  id: transfer.transfer_id,
  status: 'approved' as const,
  dollars: centsToDollars(transfer.amount),
  rate: transfer.rate,
  diamonds: transfer.diamonds,
  agent_benefit: transfer.wallet === 'agent_dollars',
  user: withAvatarUrl(user, assetBaseUrl),
  receiver: withAvatarUrl(receiver, assetBaseUrl),
  created_at: isoMicros(transfer.created_at),
})

const depositRecord = ({ user_id, target, ...cents }: Deposit) => ({
  user_id,
  dollars: centsToDollars(cents.dollars),
  agent_dollars: centsToDollars(cents.agent_dollars),
  target,
})

/** `id` is the position of the deposit; null when it would only be paid. */
const paidRecord = ({ deposit, id }: PaidDeposit) => ({ id, ...depositRecord(deposit) })

export const depositReasons: Readonly<Record<DepositRefusal, LocalizedText>> = {
  unknown_user: { en: 'There is no such user.', ar: 'هذا المستخدم غير موجود.' },
  user_forgotten: sharedRefusals.user_forgotten.message,
  paid_differently: {
    en: 'The user was paid something else for this period.',
    ar: 'سبق أن صُرف للمستخدم مبلغ مختلف عن هذه الفترة.',
  },
  nothing_to_pay: { en: 'Both amounts are 0.', ar: 'كلا المبلغين يساوي 0.' },
  insufficient_balance: {
    en: 'The user has fewer points than would be taken.',
    ar: 'نقاط المستخدم أقل من النقاط المطلوب خصمها.',
  },
  balance_limit: sharedRefusals.balance_limit.message,
}

export const salaryReport = ({ period, paid, already_paid, refused }: SalaryReport, language: Language) => ({
  period,
  paid: paid.map(paidRecord),
  already_paid: already_paid.map(paidRecord),
  refused: refused.map(({ deposit, code }) => ({
    ...depositRecord(deposit),
    code,
    message: depositReasons[code][language],
  })),
})
