import { Type } from '@sinclair/typebox'
import { Period } from '../../../schema/agency.ts'
import { WithdrawalStatus, WithdrawalType } from '../../../schema/agency-events.ts'
import { Amount, Id } from '../../../schema/common.ts'
import type { Language } from '../../../schema/languages.ts'
import { ExpectedVersion, inputSchema, preparedVerb, registerVerb } from '../../ledger/executor/command.ts'
import type { SealedRecord } from '../../vault/record.ts'
import { nameCoveredVerb, registerCovered } from '../proposals/register-covered.ts'
import type { Settings } from '../services.ts'
import { depositSalaries, MAX_FILE_DEPOSITS, payableRows } from './deposit-salaries.ts'
import { makeInstantTransfer } from './instant-transfer.ts'
import { salaryReport, transferRecord, withdrawalBody } from './presenters.ts'
import { changeStatus, statusRefusals } from './withdrawals/change-status.ts'
import { requestRefusals, requestWithdrawal } from './withdrawals/request-withdrawal.ts'
import type { NamedWithdrawal } from './withdrawals/withdrawal.ts'

const Digest = Type.Union([Type.String(), Type.Null()])

/** Encrypted: what crosses between instances is what the vault stores. */
const Sealed = Type.Union([
  Type.Object({ record_id: Type.String(), user_id: Id, sealed: Type.String(), wrapped: Type.String() }),
  Type.Null(),
])

const RequestWithdrawal = inputSchema(
  Type.Object({
    prepared: Sealed,
    request: Type.Object({
      caller_id: Id,
      type: WithdrawalType,
      target_id: Id,
      beneficiary_id: Type.Union([Id, Type.Null()]),
      country_id: Id,
      amount: Id,
      agent_benefit: Type.Boolean(),
      details: Digest,
    }),
  }),
)

const ChangeStatus = inputSchema(
  Type.Object({
    prepared: Type.Object({ note: Sealed, isKnown: Type.Boolean() }),
    request: Type.Object({
      withdrawal_id: Id,
      caller_id: Type.Union([Id, Type.Null()]),
      to: WithdrawalStatus,
      note: Digest,
      expected: ExpectedVersion,
    }),
  }),
)

const MakeInstantTransfer = inputSchema(
  Type.Object({ caller_id: Id, receiver_id: Id, amount: Id, agent_benefit: Type.Boolean() }),
)

const DepositSalaries = inputSchema(
  Type.Object({
    period: Period,
    deposits: Type.Array(Type.Object({ user_id: Id, dollars: Amount, agent_dollars: Amount, target: Amount }), {
      minItems: 1,
      maxItems: MAX_FILE_DEPOSITS,
    }),
    dry_run: Type.Boolean(),
  }),
)

interface PreparedNote {
  readonly note: SealedRecord | null
  readonly isKnown: boolean
}

export const namedDepositSalaries = nameCoveredVerb('deposit-salaries', DepositSalaries, {
  // With approvals on, the sum of a file may be beyond 2^53-1.
  verb: { ...depositSalaries, refusals: ['balance_limit'] },
  describe: ({ period }) => ({ action: 'salary_file', subject: `period:${period}`, reason: null }),
  proposable: payableRows,
})

export const coveredAgencyVerbs = [namedDepositSalaries]

/** The verbs of withdrawals, instant transfers and salaries. */
export const agencyVerbs = (settings: Settings) => {
  const presentWithdrawal = (withdrawal: NamedWithdrawal, language: Language) =>
    withdrawalBody(withdrawal, { assetBaseUrl: settings.assetBaseUrl, language })
  return {
    requestWithdrawal: registerVerb(
      'request-withdrawal',
      RequestWithdrawal,
      preparedVerb(requestRefusals, requestWithdrawal),
      { status: 201, body: presentWithdrawal },
    ),
    changeStatus: registerVerb(
      'change-withdrawal-status',
      ChangeStatus,
      preparedVerb(statusRefusals, ({ note, isKnown }: PreparedNote) => changeStatus(note, isKnown)),
      { body: presentWithdrawal },
    ),
    makeInstantTransfer: registerVerb('make-instant-transfer', MakeInstantTransfer, makeInstantTransfer, {
      status: 201,
      body: (transfer) => ({ data: transferRecord(transfer, settings.assetBaseUrl) }),
    }),
    depositSalaries: registerCovered(namedDepositSalaries, {
      status: 201,
      body: (report, language) => ({ data: salaryReport(report, language) }),
    }),
  }
}

export type AgencyVerbs = ReturnType<typeof agencyVerbs>
