import { Argument, Command, InvalidArgumentError } from 'commander'
import type { ApprovalLimits } from '../schema/proposals.ts'
import { withDatabase } from '../src/audit/database.ts'
import { localStaffName, withLedger } from '../src/audit/with-ledger.ts'
import { formatApprovals, LIMITS_FORM, parseLimits } from '../src/config/approvals.ts'
import { setApprovals } from '../src/features/proposals/approval-limits.ts'
import { runVerb } from '../src/ledger/executor/run-verb.ts'
import { type Invocation, processInvocation, runCommandLine, writerOf } from './command-line.ts'

async function set(state: 'on' | 'off', given: ApprovalLimits | undefined, invocation: Invocation): Promise<void> {
  const { env, out, interrupted } = invocation
  if ((state === 'on') !== (given !== undefined)) {
    throw new Error(state === 'on' ? `limits are missing: ${LIMITS_FORM}` : 'off has no limits')
  }
  const limits = given ?? null
  await withDatabase(env, interrupted, ({ url }) =>
    withLedger(writerOf(url, invocation), (executor) => runVerb(executor, setApprovals, { limits }, localStaffName())),
  )
  out(`${formatApprovals(limits)}: every instance and command line obeys with its next command\n`)
}

export const main = (invocation: Invocation): Promise<number> =>
  runCommandLine(
    'approvals',
    invocation,
    new Command('npm run approvals --')
      .description(
        'sets what needs a second member of staff, in the ledger of DATABASE_URL, else in DATA_DIR: `set on <limits>` or ' +
          '`set off`',
      )
      .addArgument(new Argument('<action>').choices(['set']))
      .addArgument(new Argument('<state>').choices(['on', 'off']))
      .argument('[limits]', `what each may move alone in 24 hours: ${LIMITS_FORM}`, readLimits)
      .action((_action: 'set', state: 'on' | 'off', limits?: ApprovalLimits) => set(state, limits, invocation)),
  )

function readLimits(text: string): ApprovalLimits {
  const limits = parseLimits(text)
  if (limits === null) throw new InvalidArgumentError(`Expected ${LIMITS_FORM}.`)
  return limits
}

if (import.meta.main) process.exitCode = await main(processInvocation())
