import { grantCards, transferCard } from '../../../src/features/privilege/card.ts'
import { definePackage } from '../../../src/features/privilege/package.ts'
import { activateCard } from '../../../src/features/privilege/privilege.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import type { TestExecutor } from '../../harness/ledger/test-executor.ts'
import { cardOf, type PrivilegeStep } from '../steps/privilege-steps.ts'

/** The result of a step: the cards that it granted, the card that it changed, and the answer to an activation. */
export interface PrivilegeResult {
  readonly granted: readonly number[]
  readonly card: number | null
  readonly activated: { readonly days_added: number; readonly valid_until: string } | null
}

export function runPrivilege(
  { run }: TestExecutor,
  step: PrivilegeStep,
  key: string,
  cards: readonly number[],
): Promise<CommandResult> {
  const staff = { actor: 'staff:ann', key }
  switch (step.does) {
    case 'define package': {
      const { of, rank, days } = step
      return run(definePackage, { privilege_package_id: of, name: `Package ${of}`, rank, valid_days: days }, staff)
    }
    case 'grant': {
      const { user, of, quantity } = step
      return run(grantCards, { user_id: user, privilege_package_id: of, quantity, reason: 'property' }, staff)
    }
    case 'activate': {
      const input = { caller_id: step.caller, card_id: cardOf(cards, step) }
      return run(activateCard, input, { actor: `user:${step.caller}`, key })
    }
    case 'transfer': {
      const input = { caller_id: step.caller, card_id: cardOf(cards, step), receiver_id: step.receiver }
      return run(transferCard, input, { actor: `user:${step.caller}`, key })
    }
  }
}

type AnyStep = { readonly does: string } | PrivilegeStep

export function privilegeResult(step: AnyStep, settled: CommandResult, cards: readonly number[]): PrivilegeResult {
  const { answer } = JSON.parse(settled.reply.body)
  return {
    granted: grantedCards(step, settled),
    card: 'card' in step ? cardOf(cards, step) : null,
    activated: answer?.days_added === undefined ? null : answer,
  }
}

/** The cards that a step has granted, the oldest first. */
export function grantedCards(step: AnyStep, { reply }: CommandResult): readonly number[] {
  if (step.does !== 'grant') return []
  const { answer = [] } = JSON.parse(reply.body)
  return answer.map(({ card_id }: { readonly card_id: number }) => card_id).toReversed()
}
