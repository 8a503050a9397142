import type { StepWork, WorkedStep } from './step-task.ts'
import { houseAccountsStep, trialBalanceStep } from './steps/balance-steps.ts'
import { checkDrawsStep } from './steps/draws-step.ts'
import { exceptionsStep } from './steps/exceptions-step.ts'
import { exportStep } from './steps/export-step.ts'
import { openWithdrawalsStep } from './steps/withdrawals-step.ts'

const works: Readonly<Record<WorkedStep, StepWork>> = {
  'trial-balance': trialBalanceStep,
  'house-accounts': houseAccountsStep,
  'open-withdrawals': openWithdrawalsStep,
  exceptions: exceptionsStep,
  export: exportStep,
  draws: checkDrawsStep,
}

export const workOf = (step: WorkedStep): StepWork => works[step]
