import type { Kysely } from 'kysely'
import type { Checkpoint } from '../../../schema/finance.ts'
import type { Tables } from '../../db/tables.ts'
import { readCheckpointHead, requireSigner } from '../checkpoint.ts'
import { type CommandContext, JSON_FLAG, type RegisterCommand, withQueryContext } from './command.ts'

export const checkpointCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('checkpoint')
    .description('prints a signed statement of where the ledger ends, to be kept elsewhere')
    .option(...JSON_FLAG)
    .action(running(run))

async function run(context: CommandContext, { json }: { readonly json?: true }): Promise<number> {
  const checkpoint = await withQueryContext(context, (db) => takeCheckpoint(db, context.env))
  context.terminal.line(JSON.stringify(checkpoint, null, json ? 0 : 2))
  return 0
}

async function takeCheckpoint(db: Kysely<Tables>, env: CommandContext['env']): Promise<Checkpoint> {
  const signer = await requireSigner(db, env)
  return signer.sign(await readCheckpointHead(db))
}
