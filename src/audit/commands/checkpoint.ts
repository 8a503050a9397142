import type { Kysely } from 'kysely'
import type { Checkpoint } from '../../../schema/finance.ts'
import type { Tables } from '../../db/tables.ts'
import { findSigner } from '../checkpoint/checkpoint-key.ts'
import { readCheckpointHead } from '../checkpoint/read-checkpoint-head.ts'
import { type CommandContext, JSON_FLAG, type RegisterCommand } from './command.ts'
import { withQueryContext } from './with-query-context.ts'

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
  const kept = await db
    .selectFrom('key_fingerprints')
    .select('fingerprint')
    .where('name', '=', 'checkpoint')
    .executeTakeFirst()
  const signer = findSigner(env, kept?.fingerprint)
  if (signer === null)
    throw new Error('There is no key to sign with: set CHECKPOINT_KEY, or DATA_DIR where the service generated one.')
  return signer.sign(await readCheckpointHead(db))
}
