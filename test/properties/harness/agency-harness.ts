import { depositSalaries } from '../../../src/features/agency/deposit-salaries.ts'
import { makeInstantTransfer } from '../../../src/features/agency/instant-transfer.ts'
import { changeStatus } from '../../../src/features/agency/withdrawals/change-status.ts'
import { requestWithdrawal } from '../../../src/features/agency/withdrawals/request-withdrawal.ts'
import { defineUsers } from '../../../src/features/users/define-user.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import { type TestExecutor, testVault } from '../../harness/ledger/test-executor.ts'
import { AGENT, type AgencyStep, withdrawalOf } from '../steps/agency-steps.ts'

/** The country that the agent serves. */
export const COUNTRY = 1

/** The withdrawal that a step created or changed, the diamonds of a transfer, and of a salary the report. */
export interface AgencyResult {
  readonly withdrawal: number | null
  readonly diamonds: number | null
  readonly salary: string | null
}

export function runAgency(
  { run }: TestExecutor,
  step: AgencyStep,
  key: string,
  known: readonly number[],
): Promise<CommandResult> {
  const staff = { actor: 'staff:ann', key }
  switch (step.does) {
    case 'withdraw': {
      const { caller, gold, target, beneficiary, units, agent } = step
      // Every third request has private texts.
      const details = units % 3 === 0 ? testVault.seal(caller, 'private') : null
      const input = {
        caller_id: caller,
        type: gold ? 'gold_agent' : 'cash',
        target_id: target,
        beneficiary_id: gold ? beneficiary : null,
        country_id: COUNTRY,
        amount: units,
        agent_benefit: agent,
        details: details && 'digest',
      } as const
      return run(requestWithdrawal(details), input, { actor: `user:${caller}`, key })
    }
    case 'change status': {
      const input = { withdrawal_id: withdrawalOf(known, step), caller_id: step.caller, to: step.to, note: null }
      return run(changeStatus(null), input, step.caller === null ? staff : { actor: `user:${step.caller}`, key })
    }
    case 'exchange': {
      const { caller, receiver, units, agent } = step
      const input = { caller_id: caller, receiver_id: receiver, amount: units, agent_benefit: agent }
      return run(makeInstantTransfer, input, { actor: `user:${caller}`, key })
    }
    case 'salary': {
      const { period, user, dollars, agent_dollars, target } = step
      const deposits = [{ user_id: user, dollars, agent_dollars, target }]
      return run(depositSalaries, { period, deposits, dry_run: false }, staff)
    }
    case 'set flag': {
      const { user, on } = step
      const flags =
        user === AGENT
          ? {
              charging_agent: on,
              allow_receive_withdraw_requests: true,
              agency_countries: [{ country_id: COUNTRY, diamonds_per_dollar: 10_000 }],
            }
          : { business_manager: on }
      return run(defineUsers, { users: [{ id: user, ...flags }], listed: false }, staff)
    }
  }
}

type AnyStep = { readonly does: string } | AgencyStep

export function agencyResult(step: AnyStep, { reply }: CommandResult, known: readonly number[]): AgencyResult {
  const { answer } = JSON.parse(reply.body)
  const salary =
    step.does !== 'salary'
      ? null
      : answer.paid[0]
        ? 'paid'
        : answer.already_paid[0]
          ? 'already'
          : answer.refused[0].code
  return {
    withdrawal:
      'withdrawal' in step
        ? withdrawalOf(known, step)
        : step.does === 'withdraw'
          ? (answer?.withdrawal.withdrawal_id ?? null)
          : null,
    diamonds: step.does === 'exchange' ? (answer?.transfer.diamonds ?? null) : null,
    salary,
  }
}

/** The withdrawal that a step requested. */
export function createdWithdrawals(step: AnyStep, { reply }: CommandResult): readonly number[] {
  if (step.does !== 'withdraw') return []
  const { answer } = JSON.parse(reply.body)
  return answer === undefined ? [] : [answer.withdrawal.withdrawal_id]
}
