import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { WithdrawalStatus, WithdrawalType } from './agency-events.ts'
import { Dollars, Flag, Id, Instant, PageQuery, PathId, PersonResource, Prose, Text } from './common.ts'
import { arabicForm } from './languages.ts'
import { named } from './named.ts'
import { Country } from './users.ts'

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

/** `parseDollars` (agency/dollars.ts) checks the exact form: a schema cannot count a number's decimals. */
const DollarsInput = Type.Union([Type.Number(), Type.String({ maxLength: 32 })], {
  description: 'dollars from 1 with at most 2 decimals: a number, or a string such as 12.50',
  ...arabicForm('مبلغًا بالدولار من 1 فأكثر وبمنزلتين عشريتين على الأكثر: عددًا، أو نصًا مثل 12.50'),
})

export const BankDetails = named(
  'BankDetails',
  Type.Object({
    bank_name: Text(200, 1),
    account_name: Text(200, 1),
    account_number: Text(200, 1),
  }),
)
export type BankDetails = Static<typeof BankDetails>

/** Bank details in a request: the account number may also be a JSON number, which is stored as its digits. */
const BankDetailsInput = named(
  'BankDetailsInput',
  Type.Object({
    ...BankDetails.properties,
    account_number: Type.Union([Text(200, 1), Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })], {
      title: 'text of 1 to 200 characters, or an integer up to 2^53-1',
      ...arabicForm('نصًا من 1 إلى 200 حرف، أو عددًا صحيحًا لا يزيد على 2^53-1'),
    }),
  }),
)

const commonFields = {
  amount_in_dollars: DollarsInput,
  country_id: Id,
  agent_benefit: Type.Optional({ ...Flag, description: 'from the agent wallet instead of the host wallet' }),
  user_notice: Type.Optional(Prose(500)),
  payment_method: Type.Optional(Text(100)),
}

export const RequestWithdrawal = named(
  'WithdrawalRequest',
  Type.Union([
    named(
      'GoldAgentWithdrawalRequest',
      Type.Object({
        type: Type.Literal('gold_agent'),
        target_user_id: { ...Id, description: 'the charging agent' },
        beneficiary_user_id: {
          ...Id,
          description: 'whom the agent pays the diamonds, outside this service: the ledger moves dollars only',
        },
        ...commonFields,
      }),
    ),
    named(
      'CashWithdrawalRequest',
      Type.Object({
        type: Type.Literal('cash'),
        business_manager_id: Id,
        bank_details: BankDetailsInput,
        ...commonFields,
      }),
    ),
  ]),
)
export type RequestWithdrawal = Static<typeof RequestWithdrawal>

/**
 * A withdrawal request. Fields of the other type are null, and so is what was never written, has been erased or cannot
 * be read. Finance sees the last four characters of the account number, and no notice.
 */
export const Withdrawal = named(
  'Withdrawal',
  Type.Object({
    id: Id,
    type: WithdrawalType,
    status: WithdrawalStatus,
    amount_in_dollars: Dollars,
    agent_benefit: Type.Boolean(),
    user: PersonResource,
    target_user: nullable(PersonResource),
    beneficiary_user: nullable(PersonResource),
    business_manager: nullable(PersonResource),
    country: Country,
    diamonds_per_dollar: {
      ...nullable(Id),
      description: "the charging agent's rate when it was requested; for people, as diamonds are not moved here",
    },
    created_at: Instant,
    updated_at: Instant,
    bank_details: nullable(BankDetails),
    payment_method: nullable(Type.String()),
    user_notice: nullable(Type.String()),
    note: { ...nullable(Type.String()), description: 'of the last change' },
    unreadable: Type.Optional(
      Type.Literal(true, {
        description:
          'present only when one of the four fields above was written but cannot be read; that field is null',
      }),
    ),
  }),
  'A withdrawal request with its status and its parties, where what belongs to the other type is null',
)
export type Withdrawal = Static<typeof Withdrawal>

export const WithdrawalParams = Type.Object({ id: PathId })

export const ChangeStatus = named(
  'WithdrawalStatusChange',
  Type.Object({ status: WithdrawalStatus, note: Type.Optional(Prose(500)) }),
)

const filters = {
  type: Type.Optional(WithdrawalType),
  status: Type.Optional(WithdrawalStatus),
  agent_benefit: Type.Optional({
    ...Flag,
    description: 'of the agent wallet, or of the host wallet; of both if absent',
  }),
}

export const AllWithdrawals = Type.Composite([PageQuery, Type.Object(filters)])

export const OwnWithdrawals = Type.Composite([
  PageQuery,
  Type.Object({
    ...filters,
    agent_benefit: Type.Optional({
      ...Flag,
      description:
        'of the agent wallet; 0 or absent: of the host wallet. With received, absent: of both wallets of the requester',
    }),
    received: Type.Optional({ ...Flag, description: 'those addressed to the caller, as agent or manager' }),
  }),
])

export const ChargingAgent = named(
  'ChargingAgent',
  Type.Object({
    ...PersonResource.properties,
    countries: Type.Array(Type.Object({ id: Id, name: Type.String(), diamonds_per_dollar: Id })),
  }),
  'A user who pays diamonds for dollars, with the countries served and the rate in each',
)
export type ChargingAgent = Static<typeof ChargingAgent>

export const MakeInstantTransfer = named(
  'InstantTransferRequest',
  Type.Object({
    dollars: DollarsInput,
    user_id: { ...Id, description: 'who receives the diamonds; may be the caller' },
    agent_benefit: commonFields.agent_benefit,
  }),
)

export const InstantTransfer = named(
  'InstantTransfer',
  Type.Object({
    id: Id,
    status: Type.Literal('approved'),
    dollars: Dollars,
    rate: { ...Id, description: 'diamonds for a dollar' },
    diamonds: Id,
    agent_benefit: Type.Boolean(),
    user: PersonResource,
    receiver: PersonResource,
    created_at: Instant,
  }),
  "A transfer of the requester's dollars to a user, who received diamonds for them",
)
export type InstantTransfer = Static<typeof InstantTransfer>

export const OwnTransfers = Type.Composite([
  PageQuery,
  Type.Object({
    status: filters.status,
    received: Type.Optional({ ...Flag, description: 'those that the caller received, transfers to oneself included' }),
  }),
])

/** Users in one request. */
export const MAX_DEPOSITS = 1_000

const DepositedDollars = Type.Union([Type.Number(), Type.String({ maxLength: 32 })], {
  description: 'dollars from 0 with at most 2 decimals: a number, or a string such as 12.50',
  ...arabicForm('مبلغًا بالدولار من 0 فأكثر وبمنزلتين عشريتين على الأكثر: عددًا، أو نصًا مثل 12.50'),
})

export const SalaryDeposit = named(
  'SalaryDeposit',
  Type.Object({
    user_id: Id,
    dollars: DepositedDollars,
    agent_dollars: DepositedDollars,
    target: Type.Optional({
      ...Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      description: "points that are taken from the user's target balance",
    }),
  }),
)

export type SalaryDeposit = Static<typeof SalaryDeposit>

export const Period = Type.String({
  pattern: '^[0-9A-Za-z_-]{1,32}$',
  description: '1 to 32 of 0-9 A-Z a-z _ -',
  ...arabicForm('من 1 إلى 32 حرفًا من 0-9 وA-Z وa-z و_ و-'),
})

export const DepositSalaries = named(
  'SalaryDeposits',
  Type.Object({
    period: Period,
    deposits: Type.Array(SalaryDeposit, { minItems: 1, maxItems: MAX_DEPOSITS }),
  }),
)

const deposit = { user_id: Id, dollars: Dollars, agent_dollars: Dollars, target: Type.Integer({ minimum: 0 }) }
const PaidDeposit = named(
  'PaidDeposit',
  Type.Object({ id: { ...Id, description: "the deposit's position on the ledger" }, ...deposit }),
)

export const SalaryReport = named(
  'SalaryReport',
  Type.Object({
    period: Type.String(),
    paid: Type.Array(PaidDeposit),
    already_paid: Type.Array(PaidDeposit),
    refused: Type.Array(Type.Object({ ...deposit, code: Type.String(), message: Type.String() })),
  }),
  'The deposits that were paid now, those that had been paid before, and those that were refused, with the reason',
)
export type SalaryReport = Static<typeof SalaryReport>
